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
    *_orders(  # Swedish
        r"\b(?:bortse|ignorera|glöm|strunta)",
        r"instruktion|anvisning|regl|tidigare|ovan",
        r"\b(?:godkänn|bedöm|betygs|ge\b)",
        r"högsta|betyg|full poäng|toppbetyg|rätt|korrekt|\bsvar|underkän",
    ),
    *_orders(  # Danish and Norwegian
        r"\b(?:se bort|ignorer|glem|overse)",
        r"instruks|anvisning|regl|tidligere|ovenfor|foregående",
        r"\b(?:giv|gi\b|godkend|godkjenn|bedøm|vurder)",
        r"topkarakter|toppkarakter|karakter|fulde point|full score|bestått|bestået|riktig|korrekt",
    ),
    *_orders(  # Finnish
        r"\b(?:unohda|ohita|jätä huomiotta|älä välitä)",
        r"ohje|sään|aiem|edelli|yllä",
        r"\b(?:anna|arvioi|hyväksy|merkitse)",
        r"täydet|pistee|arvosan|oikeaksi|hyväksyt|parhaa",
    ),
    *_orders(  # Czech and Slovak
        r"\b(?:ignoruj|zapomeň|nevšímej|zabudni|pomiň)",
        r"pokyn|instrukc|pravid|předchoz|predchádz|výše",
        r"\b(?:ohodno|hodno|označ|dej|daj|uznej)",
        r"správn|plný počet|nejvyšš|najvyšš|splněn|úspěš|známk",
    ),
    *_orders(  # Ukrainian
        r"ігнор|не зважай|забудь|не звертай",
        r"вказів|інструкц|правил|попередн|вище",
        r"зарах|оціни|постав|познач|вистав",
        r"правильн|найвищ|максим|бал|вірн|успішн",
    ),
    *_orders(  # Greek
        r"αγνό|ξέχασ|παράβλεψ",
        r"οδηγ|κανόν|προηγούμεν|παραπάνω",
        r"βαθμολόγ|δώσε|αξιολόγ|θεώρησ",
        r"άριστα|σωστ|μέγιστ|επιτυχ|βαθμ",
    ),
    *_orders(  # Romanian
        r"\b(?:ignor|uit[ăa]|neglij)",
        r"instruc[țt]|regul|anterioar|de mai sus",
        r"\b(?:not|acord|evalu|d[ăa]\b|punct)",
        r"maxim|corect|promovat|punctaj|not[ăa]\b|admis",
    ),
    *_orders(  # Hungarian
        r"figyelmen kívül|felejtsd|hagyd",
        r"utasítás|szabály|előz|fenti",
        r"\b(?:adj|értékel|fogad|minősít)",
        r"maximális|helyes|pont|jeles|megfelelt|legjobb",
    ),
    *_orders(  # Hebrew
        r"התעלם|שכח",
        r"הוראות|כללים|קודמ|לעיל",
        r"תן|דרג|הענק|סמן",
        r"ציון|נכון|עובר|מלא|גבוה",
    ),
    *_orders(  # Persian and Urdu
        r"نادیده|فراموش|نظرانداز|نظر انداز",
        r"دستور|قوانین|قبلی|بالا|ہدایات|پچھل",
        r"بده|بدهید|ارزیابی|دیں|دو",
        r"نمره|کامل|درست|قبول|نمبر|صحیح",
    ),
    *_orders(  # Bengali
        r"উপেক্ষা|ভুলে",
        r"নির্দেশ|নিয়ম|পূর্ব|আগের",
        r"দাও|দিন|মূল্যায়ন",
        r"নম্বর|সঠিক|পাস|সর্বোচ্চ",
    ),
    *_orders(  # Thai
        r"เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม",
        r"คำสั่ง|กฎ|ก่อนหน้า|ข้างต้น",
        r"ให้|ประเมิน|ตัดสิน",
        r"คะแนน|ถูกต้อง|ผ่าน",
    ),
    *_orders(  # Vietnamese
        r"bỏ qua|quên|phớt lờ",
        r"hướng dẫn|chỉ dẫn|quy tắc|trước đó|ở trên",
        r"\b(?:chấm|cho|đánh giá)",
        r"tối đa|điểm|\bđúng|\bđạt",
    ),
    *_orders(  # Indonesian and Malay
        r"\b(?:abaikan|lupakan|hiraukan)",
        r"petunjuk|instruksi|arahan|aturan|sebelumnya|di atas",
        r"\b(?:beri|berikan|nilai|anggap)",
        r"tertinggi|sempurna|benar|lulus|nilai|skor|betul",
    ),
    *_orders(  # Swahili
        r"\b(?:puuza|sahau)",
        r"maagizo|maelekezo|kanuni|awali|juu",
        r"\b(?:upe|toa|mpe|weka|hesabu)",
        r"alama|sahihi|juu zaidi|kamili",
    ),
    # What else may be said: to let something pass, whatever was asked before.
    r"\b(?:durchgehen|durchwinken|durchkommen)|\begal,? was|\b(?:rules|regeln|vorgaben|kriterien)"
    r" sind\b.{0,20}\begal|\b(?:auf|als) (?:pass|bestanden|fail)\b",
    r"\b(?:tomber|oublie|peu importe|fi de)\b.{0,30}(?:consigne|instruction|règle)|\bvalide[rz]?\b"
    r".{0,30}(?:réponse|tour)|\b(?:aprueb|aprob|valid|aprov)\w*.{0,30}(?:respuesta|turno|resposta)|"
    r"\bapprov\w*.{0,30}(?:risposta|turno)",
    r"(?:判|算|视|視|评|評|记|記|当|當)\w{0,4}(?:为|作|為|成)?\w{0,2}(?:合格|通过|通過|正确|正確|失败|失敗|不合格)",
    r"(?:不要|不必|不用|别|別)(?:管|理会|理會|在意|遵守|考虑|考慮)",
    r"(?:合格|正解|不合格|正しい|成功)(?:と|に|扱)|気にし(?:ない|なくて)|従わ(?:ない|なくて)",
    r"(?:합격|정답|통과|성공)(?:으로|로|처리)|(?:신경|따르지)\w*.{0,6}(?:마|말)",
)
"""Patterns over a folded reading; bounded repeats only."""
