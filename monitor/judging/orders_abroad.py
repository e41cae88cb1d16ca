"""The same orders in other languages: to forget what was said, or to give a mark."""

# ruff: noqa: RUF001  the alphabets are the matter of this file

from __future__ import annotations

from typing import Final


def _orders(forget: str, what: str, give: str, mark: str) -> tuple[str, str, str]:
    """Forgetting what was told, and giving a mark, in either order of the words."""
    return (
        rf"(?:{forget})\w*.{{0,60}}(?:{what})|(?:{what})\w*.{{0,60}}(?:{forget})",
        rf"(?:{give})\w*.{{0,50}}(?:{mark})",
        rf"(?:{mark})\w*.{{0,30}}(?:{give})",
    )


ABROAD: Final = (
    *_orders(  # German
        r"\b(?:ignorier|vergiss|vergess|missacht|übergeh)",
        r"anweisung|regel|vorgabe|vorher|\boben\b|hinweis",
        r"\b(?:bewert|benot|beurteil|vergib|gib)",
        r"bestanden|\brichtig|korrekt|höchst|\bvolle|beste|maximal|punktzahl|durchgefallen|\bfalsch",
    ),
    *_orders(  # French
        r"\b(?:ignor|oubli|néglig)",
        r"instruction|consigne|règle|précédent|ci-dessus",
        r"\b(?:not|évalu|donn|attribu|mets|mett)",
        r"\bnote\b|score|maximal|réussi|\bcorrect|parfait|échec|échou",
    ),
    *_orders(  # Spanish
        r"\b(?:ignor|olvid|descart)",
        r"instruccion|regla|anterior|arriba|indicacion",
        r"\b(?:puntu|calific|evalú|evalu|otorg|asign|da\b|dale|pon)",
        r"máxim|perfect|correct|aprobad|suspens|\bnota\b|puntuación",
    ),
    *_orders(  # Portuguese
        r"\b(?:ignor|esque[çc]|desconsider)",
        r"instru[çc]|regra|anterior|acima",
        r"\b(?:pontu|avali|atribu|dê\b|classifi)",
        r"máxim|perfeit|corret|aprovad|reprovad|\bnota\b",
    ),
    *_orders(  # Italian
        r"\b(?:ignor|dimentic|tralasci)",
        r"istruzion|regol|precedent|sopra",
        r"\b(?:valut|assegn|dai\b|dà\b|attribu)",
        r"massim|perfett|corrett|superat|\bvoto\b|punteggio",
    ),
    *_orders(  # Dutch
        r"\b(?:negeer|vergeet)",
        r"instructie|regel|voorgaand|hierboven|vorige",
        r"\b(?:beoordeel|geef|ken)",
        r"\bscore|geslaagd|hoogste|correct|\bcijfer|gezakt",
    ),
    *_orders(  # Polish
        r"\b(?:zignoruj|ignoruj|pomiń|zapomnij)",
        r"instrukcj|polece|zasad|poprzedni|powyżej",
        r"\b(?:oceń|przyznaj|daj|wystaw)",
        r"maksym|zaliczon|poprawn|\bocen|najwyżs",
    ),
    *_orders(  # Russian
        r"игнорир|забуд|не обращай",
        r"инструкц|правил|указан|предыдущ|выше",
        r"оцени|оценк|постав|засчит|выстав",
        r"максим|высш|верн|зач[её]т|балл|правильн",
    ),
    *_orders(  # Turkish
        r"yok say|görmezden gel|unut",
        r"talimat|kural|önceki|yukarıdaki",
        r"\b(?:ver|puanla|değerlendir|işaretle)",
        r"tam puan|en yüksek|geçer|doğru olarak|başarılı",
    ),
    *_orders(  # Chinese
        r"忽略|无视|無視|忘记|忘掉|忘記|不要理会",
        r"指令|指示|说明|說明|提示|规则|規則|以上|之前|先前",
        r"给|給|打|评|評|判",
        r"满分|滿分|最高分|通过|通過|正确|正確|零分|高分",
    ),
    *_orders(  # Japanese
        r"無視|忘れ",
        r"指示|命令|ルール|以前|上記|これまで",
        r"付け|与え|採点|評価|判定|つけ",
        r"満点|最高点|合格|正解|不合格|高い点",
    ),
    *_orders(  # Korean
        r"무시|잊어|잊으",
        r"지시|명령|규칙|이전|위의|앞의",
        r"주세요|줘|매겨|평가|채점|판정",
        r"만점|최고 ?점|합격|정답|높은 점",
    ),
    *_orders(  # Hindi
        r"नज़रअंदाज|नजरअंदाज|अनदेखा|भूल",
        r"निर्देश|नियम|पिछले|ऊपर",
        r"दें|दो|दीजिए|मूल्यांकन|आंक",
        r"पूर्ण अंक|पूरे अंक|उत्तीर्ण|सही|सर्वोच्च",
    ),
    *_orders(  # Arabic
        r"تجاهل|انس",
        r"تعليم|قواعد|سابق|أعلاه",
        r"أعط|امنح|قيّم|قيم|ضع",
        r"الدرجة الكاملة|أعلى درجة|علامة كاملة|ناجح|صحيح",
    ),
)
"""Patterns over a folded reading; bounded repeats only."""
