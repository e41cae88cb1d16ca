"""Small tables of words with one meaning: units, currencies, number words, states, aliases."""

from __future__ import annotations

from fractions import Fraction
from typing import Final


def split(words: str) -> list[str]:
    """The words of a table row."""
    return words.split()


NUMBER_WORDS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        split(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
} | {
    word: 10 * value
    for value, word in enumerate(
        split("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
SCALE_WORDS: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
MAGNITUDES: Final[dict[str, int]] = SCALE_WORDS | {
    "k": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "mio": 10**6,
    "mm": 10**6,
    "b": 10**9,
    "bn": 10**9,
    "t": 10**12,
}

CURRENCY_SYMBOLS: Final = {
    "$": "USD?",
    "US$": "USD",
    "C$": "CAD",
    "CA$": "CAD",
    "A$": "AUD",
    "AU$": "AUD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY?",
    "₹": "INR",
    "₩": "KRW",
    "R$": "BRL",
    "Fr.": "CHF",
}
"""A code with a question mark has more than one reading."""

READINGS: Final = {
    "USD?": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "JPY?": ("JPY", "CNY"),
}
"""What an ambiguous sign may stand for, the usual one first."""

_CURRENCY_NAMES: Final = {
    "USD": "usd us dollar|us dollars|american dollar|american dollars|u.s. dollars",
    "USD?": "dollar|dollars|bucks",
    "EUR": "eur euro|euros",
    "GBP": "gbp pound sterling|pounds sterling|british pound|british pounds",
    "JPY": "jpy japanese yen",
    "JPY?": "yen",
    "CNY": "cny chinese yuan|yuan|renminbi|rmb",
    "INR": "inr rupee|rupees|indian rupee|indian rupees|rs",
    "CAD": "cad canadian dollar|canadian dollars",
    "AUD": "aud australian dollar|australian dollars",
    "CHF": "chf swiss franc|swiss francs",
    "KRW": "krw won|korean won",
    "MXN": "mxn mexican peso|mexican pesos",
    "BRL": "brl real|reais|brazilian real",
    "SEK": "sek swedish krona",
    "NZD": "nzd new zealand dollar|new zealand dollars",
    "SGD": "sgd singapore dollar|singapore dollars",
    "HKD": "hkd hong kong dollar|hong kong dollars",
}
CURRENCIES: Final[dict[str, str]] = {}
for _code, _names in _CURRENCY_NAMES.items():
    _short, _, _long = _names.partition(" ") if not _code.endswith("?") else ("", "", _names)
    for _name in filter(None, (_short, *_long.split("|"))):
        CURRENCIES[_name] = _code

_UNIT_ROWS: Final = (
    ("length", "1/1000", "mm millimeter millimeters millimetre millimetres"),
    ("length", "1/100", "cm centimeter centimeters centimetre centimetres"),
    ("length", "1", "m meter meters metre metres"),
    ("length", "1000", "km kilometer kilometers kilometre kilometres kms"),
    ("length", "0.0254", "in inch inches"),
    ("length", "0.3048", "ft foot feet"),
    ("length", "0.9144", "yd yard yards"),
    ("length", "1609.344", "mi mile miles"),
    ("mass", "1/1000", "mg milligram milligrams"),
    ("mass", "1", "g gram grams"),
    ("mass", "1000", "kg kilogram kilograms kilo kilos kgs"),
    ("mass", "1000000", "tonne tonnes"),
    ("mass", "453.59237", "lb lbs pound pounds"),
    ("mass", "28.349523125", "oz ounce ounces"),
    ("time", "1/1000", "ms millisecond milliseconds"),
    ("time", "1", "s sec secs second seconds"),
    ("time", "60", "min mins minute minutes"),
    ("time", "3600", "h hr hrs hour hours"),
    ("time", "86400", "d day days"),
    ("time", "604800", "wk week weeks"),
    ("months", "1", "month months"),
    ("months", "12", "yr yrs year years"),
    ("volume", "1/1000", "ml milliliter milliliters millilitre millilitres"),
    ("volume", "1/100", "cl centiliter centiliters centilitre centilitres"),
    ("volume", "1/10", "dl deciliter deciliters decilitre decilitres"),
    ("volume", "1", "l liter liters litre litres"),
    ("spoon", "1", "tsp teaspoon teaspoons"),
    ("spoon", "3", "tbsp tablespoon tablespoons"),
    ("cup", "1", "cup cups"),
    ("gallon", "1", "gal gallon gallons"),
    ("amount", "1", "mol mole moles"),
    ("kelvin", "1", "kelvin kelvins"),
    ("energy", "1", "j joule joules"),
    ("energy", "1000", "kj kilojoule kilojoules"),
    ("power", "1", "w watt watts"),
    ("power", "1000", "kw kilowatt kilowatts"),
    ("data", "1", "byte bytes"),
    ("data", "1000", "kb kilobyte kilobytes"),
    ("data", "1000000", "mb megabyte megabytes"),
    ("data", "1000000000", "gb gigabyte gigabytes"),
    ("data", "1000000000000", "tb terabyte terabytes"),
    ("data", "1024", "kib"),
    ("data", "1048576", "mib"),
    ("data", "1073741824", "gib"),
    ("celsius", "1", "°c c celsius"),
    ("fahrenheit", "1", "°f f fahrenheit"),
    ("percent", "1", "% percent pct"),
    ("speed", "1", "km/h kmh kph"),
    ("speed", "1.609344", "mph"),
    ("angle", "1", "deg degree degrees"),
    ("angle rad", "1", "rad radian radians"),
)
UNITS: Final[dict[str, tuple[str, Fraction]]] = {
    word: (dimension, Fraction(factor))
    for dimension, factor, words in _UNIT_ROWS
    for word in words.split()
}

MONTHS: Final[dict[str, int]] = {}
for _number, _month in enumerate(
    split("january february march april may june july august september october november december"),
    start=1,
):
    MONTHS[_month] = MONTHS[_month[:3]] = _number
MONTHS["sept"] = 9
ORDINALS: Final = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
}

LANGUAGES: Final[dict[str, str]] = dict(
    pair.split("=")
    for pair in split(
        "en=english fr=french de=german es=spanish it=italian pt=portuguese nl=dutch sv=swedish "
        "da=danish no=norwegian fi=finnish pl=polish cs=czech ru=russian uk=ukrainian tr=turkish "
        "el=greek ar=arabic he=hebrew hi=hindi bn=bengali ur=urdu zh=chinese ja=japanese "
        "ko=korean vi=vietnamese th=thai id=indonesian ro=romanian hu=hungarian deutsch=german "
        "espanol=spanish francais=french mandarin=chinese"
    )
)
"""Language code or other name to its English name."""

COUNTRIES: Final[dict[str, str]] = {
    code.replace("_", " "): name.replace("_", " ")
    for code, name in (
        pair.split("=")
        for pair in split(
            "us=united_states usa=united_states united_states_of_america=united_states "
            "uk=united_kingdom gb=united_kingdom great_britain=united_kingdom ca=canada "
            "mx=mexico br=brazil fr=france de=germany es=spain it=italy pt=portugal "
            "nl=netherlands be=belgium ch=switzerland at=austria se=sweden no=norway dk=denmark "
            "fi=finland pl=poland cz=czech_republic ie=ireland gr=greece tr=turkey ru=russia "
            "ua=ukraine in=india cn=china jp=japan kr=south_korea vn=vietnam th=thailand "
            "id=indonesia sg=singapore au=australia nz=new_zealand za=south_africa eg=egypt "
            "ae=united_arab_emirates uae=united_arab_emirates sa=saudi_arabia il=israel "
            "ar=argentina cl=chile co=colombia pe=peru"
        )
    )
}
"""Country code or other name to its usual English name, for fields known to hold a country."""

STATES: Final[dict[str, str]] = dict(
    pair.split("=")
    for pair in (
        "al=alabama ak=alaska az=arizona ar=arkansas ca=california co=colorado ct=connecticut "
        "de=delaware fl=florida ga=georgia hi=hawaii id=idaho il=illinois in=indiana ia=iowa "
        "ks=kansas ky=kentucky la=louisiana me=maine md=maryland ma=massachusetts mi=michigan "
        "mn=minnesota ms=mississippi mo=missouri mt=montana ne=nebraska nv=nevada nh=new+hampshire "
        "nj=new+jersey nm=new+mexico ny=new+york nc=north+carolina nd=north+dakota oh=ohio "
        "ok=oklahoma or=oregon pa=pennsylvania ri=rhode+island sc=south+carolina sd=south+dakota "
        "tn=tennessee tx=texas ut=utah vt=vermont va=virginia wa=washington wv=west+virginia "
        "wi=wisconsin wy=wyoming dc=district+of+columbia"
    )
    .replace("+", "_")
    .split()
)
"""Postal code to name; blanks in a name are written as underscores."""

PLACES: Final = {
    "nyc": "new york city",
    "new york": "new york city",
    "ny": "new york city",
    "la": "los angeles",
    "sf": "san francisco",
    "dc": "washington",
    "washington dc": "washington",
    "philly": "philadelphia",
    "vegas": "las vegas",
    "uk": "united kingdom",
    "great britain": "united kingdom",
    "us": "united states",
    "usa": "united states",
    "united states of america": "united states",
    "uae": "united arab emirates",
    "eu": "european union",
    "england": "united kingdom",
    "holland": "netherlands",
    "cdmx": "mexico city",
    "munchen": "munich",
    "koln": "cologne",
    "wien": "vienna",
    "roma": "rome",
    "milano": "milan",
    "firenze": "florence",
    "venezia": "venice",
    "torino": "turin",
    "napoli": "naples",
    "praha": "prague",
    "warszawa": "warsaw",
    "moskva": "moscow",
    "lisboa": "lisbon",
    "sevilla": "seville",
    "geneve": "geneva",
    "genf": "geneva",
    "bruxelles": "brussels",
    "kobenhavn": "copenhagen",
    "peking": "beijing",
    "bombay": "mumbai",
    "calcutta": "kolkata",
    "bangalore": "bengaluru",
    "saigon": "ho chi minh city",
    "kiev": "kyiv",
}
"""Names of one place, valid only where a field is known to hold a place."""

ALIASES: Final[dict[str, str]] = {
    "nyc": "new york city",
    "usa": "united states",
    "u.s.a.": "united states",
    "u.s.": "united states",
    "united states of america": "united states",
    "u.k.": "united kingdom",
    "asc": "ascending",
    "desc": "descending",
    "min": "minimum",
    "max": "maximum",
    "avg": "average",
    "temp": "temperature",
    "approx": "approximately",
    "dept": "department",
    "qty": "quantity",
    "sci fi": "science fiction",
    "every day": "daily",
    "every week": "weekly",
    "every month": "monthly",
    "every year": "yearly",
    "annually": "yearly",
    "every hour": "hourly",
    "mon": "monday",
    "tue": "tuesday",
    "tues": "tuesday",
    "wed": "wednesday",
    "thu": "thursday",
    "thur": "thursday",
    "thurs": "thursday",
    "fri": "friday",
    "sat": "saturday",
    "sun": "sunday",
}
"""Whole values with one usual meaning in any field."""

WORDS: Final[dict[str, str]] = {
    "st": "street",
    "ave": "avenue",
    "rd": "road",
    "blvd": "boulevard",
    "dr": "drive",
    "ln": "lane",
    "apt": "apartment",
    "ste": "suite",
    "dept": "department",
    "corp": "corporation",
    "inc": "incorporated",
    "intl": "international",
    "vs": "versus",
    "&": "and",
    "colour": "color",
    "centre": "center",
    "grey": "gray",
    "cancelled": "canceled",
    "cancelling": "canceling",
    "travelling": "traveling",
    "favourite": "favorite",
    "behaviour": "behavior",
    "licence": "license",
    "theatre": "theater",
    "catalogue": "catalog",
    "programme": "program",
    "enquiry": "inquiry",
}
"""Single words within a text that are spelled in two ways."""

FILLER: Final = frozenset(
    split(
        "a an the of for in on at to from by with and is are was were be been as it its this that "
        "please kindly sure ok okay about me my your our their his her i we you "
        "figure figures data report number numbers"
    )
)
"""Words that carry no claim of their own."""

QUALIFIERS: Final = frozenset(
    split(
        "premium basic pro plus max mini lite ultra net gross junior senior deluxe standard "
        "express north south east west northern southern eastern western upper lower inner outer "
        "former ex vice deputy assistant acting half double triple partial non pre post sub anti "
        "fake"
    )
)
"""Words that make another thing of what they stand beside: premium economy is not economy."""

OPENERS: Final = frozenset(
    split(
        "hello hi hey dear thanks thank welcome sorry yes yep great good nice perfect excellent "
        "awesome wonderful fine alright right then now here there so also however but if when "
        "once after before while since because as he she they everything all both each every some "
        "any no one two three book buy purchase send ship get take make order cancel refund done"
    )
)
"""Words that begin a sentence in capitals without being a name."""

NEGATIONS: Final = frozenset(
    split(
        "not no never none neither nor without cannot cant dont doesnt didnt wont wouldnt couldnt "
        "shouldnt isnt arent wasnt werent hasnt havent hadnt unable nobody nothing "
        "nicht kein keine keinen keinem keiner nie niemals pas jamais nunca tampoco não non "
        "niet geen nooit inte ikke не нет"
    )
)

_OPPOSITES: Final = (
    "open closed|buy sell|purchase sale|increase decrease|raise lower|up down|open close|"
    "opened closed|"
    "enable disable|enabled disabled|on off|in out|before after|start end|first last|"
    "minimum maximum|min max|ascending descending|approve reject|approved rejected|"
    "approved denied|accept decline|accepted declined|allow deny|add remove|"
    "deposit withdraw|deposit withdrawal|credit debit|revenue profit|gross net|profit loss|"
    "income expense|incoming outgoing|inbound outbound|arrival departure|arrive depart|"
    "origin destination|send receive|sent received|lend borrow|left right|north south|east west|"
    "northern southern|eastern western|male female|true false|yes no|morning evening|am pm|"
    "asset liability|assets liabilities|lock unlock|hot cold|high low|higher lower|"
    "highest lowest|more less|most least|above below|over under|success failure|"
    "succeeded failed|valid invalid|active inactive|include exclude|included excluded|"
    "upgrade downgrade|import export|upload download|public private|internal external|"
    "weekday weekend|today tomorrow|today yesterday|tomorrow yesterday|metric imperial|"
    "positive negative|cash card|husband wife|mother father|son daughter|brother sister|boy girl|"
    "man woman|men women|win lose|won lost|gain loss|early late|earlier later|larger smaller|"
    "bigger smaller|faster slower|cheaper dearer|longer shorter|rose fell|rise fall|risen fallen|"
    "grew shrank|added removed|adding removing|enabling disabling|cheapest dearest|"
    "largest smallest|longest shortest|earliest latest|oldest newest|older younger|"
    "increased decreased|raised lowered|borrowed lent|bought sold|departed arrived|"
    "locked unlocked|installed uninstalled|subscribed unsubscribed|passed failed"
)
OPPOSITES: Final[dict[str, frozenset[str]]] = {}
for _pair in _OPPOSITES.split("|"):
    _one, _other = _pair.split()
    OPPOSITES[_one] = OPPOSITES.get(_one, frozenset()) | {_other}
    OPPOSITES[_other] = OPPOSITES.get(_other, frozenset()) | {_one}
