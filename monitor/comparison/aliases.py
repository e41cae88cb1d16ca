"""Names of one thing that are such in certain fields only: codes, short forms, sizes, zones."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from monitor.comparison.kinds import FIELD_LIMIT, field_words
from monitor.comparison.tables import COUNTRIES, LANGUAGES, STATES


def _table(rows: str) -> dict[str, str]:
    """From rows such as `name=short,shorter` to the name behind each; blanks are underscores."""
    found: dict[str, str] = {}
    for row in rows.split():
        name, _, others = row.replace("_", " ").partition("=")
        found |= dict.fromkeys((name, *filter(None, others.split(","))), name)
    return found


NAME_LIMIT: Final = 80
"""Longer texts are no names that a table knows."""


class Table(NamedTuple):
    """Names behind other names, valid in fields whose name holds one of the words."""

    words: frozenset[str]
    names: dict[str, str]


_DEMONYMS: Final = _table(
    "united_states=american united_kingdom=british european_union=eu,european,europe "
    "germany=german france=french spain=spanish italy=italian china=chinese japan=japanese "
    "canada=canadian australia=australian india=indian mexico=mexican brazil=brazilian"
)
_PLACED: Final = frozenset(
    {
        "region",
        "market",
        "location",
        "destination",
        "origin",
    }
)
_LAND_CODES: Final = {name: code for name, code in COUNTRIES.items() if name not in STATES}

AIRPORTS: Final = _table(
    "new_york=jfk,lga,nyc los_angeles=lax san_francisco=sfo chicago=ord,mdw,chi boston=bos "
    "seattle=sea miami=mia dallas=dfw houston=iah denver=den atlanta=atl las_vegas=las "
    "phoenix=phx philadelphia=phl washington=iad,dca orlando=mco newark=ewr minneapolis=msp "
    "detroit=dtw charlotte=clt san_diego=san san_jose=sjc portland=pdx honolulu=hnl "
    "toronto=yyz,yto vancouver=yvr montreal=yul mexico_city=mex london=lhr,lgw,lon "
    "paris=cdg,ory,par frankfurt=fra munich=muc berlin=ber madrid=mad barcelona=bcn "
    "rome=fco,rom milan=mxp,mil amsterdam=ams zurich=zrh vienna=vie dublin=dub "
    "lisbon=lis copenhagen=cph stockholm=arn,sto oslo=osl istanbul=ist dubai=dxb doha=doh "
    "delhi=del mumbai=bom singapore=sin hong_kong=hkg bangkok=bkk tokyo=nrt,hnd,tyo "
    "osaka=kix seoul=icn,sel beijing=pek,bjs shanghai=pvg,sha sydney=syd melbourne=mel "
    "auckland=akl sao_paulo=gru"
)
"""Codes of airports and of cities with several, to the city's name."""

TABLES: Final = (
    Table(frozenset({"gender", "sex"}), _table("male=m,man,men female=f,woman,women")),
    Table(
        frozenset({"size", "sizes"}),
        _table(
            "extra_small=xs,x-small,xsmall small=s medium=m,med large=l "
            "extra_large=xl,x-large,xlarge "
            "double_extra_large=xxl,2xl triple_extra_large=xxxl,3xl"
        ),
    ),
    Table(
        frozenset({"company", "companies", "stock", "stocks", "issuer", "firm"}),
        _table(
            "apple=aapl microsoft=msft alphabet=googl,goog,google amazon=amzn tesla=tsla "
            "meta=fb,facebook,meta_platforms nvidia=nvda netflix=nflx intel=intc oracle=orcl "
            "cisco=csco boeing=ba disney=dis,walt_disney jpmorgan_chase=jpm,jpmorgan "
            "goldman_sachs=gs coca-cola=ko,coca_cola pepsico=pep,pepsi walmart=wmt mastercard=ma "
            "johnson_&_johnson=jnj procter_&_gamble=pg exxon_mobil=xom,exxonmobil "
            "international_business_machines=ibm advanced_micro_devices=amd"
        ),
    ),
    Table(
        frozenset({"timezone", "tz", "zone"}),
        _table(
            "america/new_york=est,edt,et,eastern,eastern_time,eastern_standard_time,us/eastern "
            "america/chicago=cst,cdt,ct,central_time,us/central "
            "america/denver=mst,mdt,mt,mountain_time,us/mountain "
            "america/los_angeles=pst,pdt,pt,pacific_time,us/pacific "
            "europe/london=gmt,bst,greenwich_mean_time,british_summer_time "
            "europe/berlin=cet,cest,central_european_time europe/paris=europe/paris "
            "asia/tokyo=jst asia/kolkata=ist asia/shanghai=china_standard_time "
            "australia/sydney=aest,aedt utc=coordinated_universal_time,zulu"
        ),
    ),
    Table(frozenset({"lang", "language", "languages", "locale"}), LANGUAGES),
    Table(frozenset({"country", "countries", "nation", "nationality"}), COUNTRIES | _DEMONYMS),
    Table(_PLACED, _LAND_CODES | _DEMONYMS),
)
_COMPANY_FORM: Final = re.compile(
    r"[\s,]{1,3}(?:inc|incorporated|corp|corporation|co|company|ltd|limited|llc|plc|ag|sa|gmbh)\.?$"
)


def same_alias(expected: str, actual: str, field: str | None) -> bool | None:
    """Whether two folded texts name one thing in such a field; None where no table knows both."""
    words = frozenset(field_words(field[-FIELD_LIMIT:])) if field else frozenset()
    for table in TABLES:
        if words & table.words:
            one, other = _name(expected, table), _name(actual, table)
            if one is not None and other is not None:
                return one == other
    return None


def _name(text: str, table: Table) -> str | None:
    if len(text) > NAME_LIMIT:
        return None
    text = text.replace("_", " ")
    found = table.names.get(text) or table.names.get(_COMPANY_FORM.sub("", text))
    return found if found is not None else text if text in table.names.values() else None


def is_airport_of(code: str, place: str) -> bool:
    """Whether a folded text is the code of an airport of the city that the other names."""
    city = place.partition(",")[0].removesuffix(" city")
    return code != city and AIRPORTS.get(code) == city
