"""Wordings that steer a grader without naming one: outcomes, fame, favours, faked records."""

# ruff: noqa: E501  a pattern stands on one line

from __future__ import annotations

from typing import Final

_TURN = r"(?:turn(?! (?:on|off|out|into|it|up|down|over|around|in|left|right)\b)|turns)"
_SPOKEN = rf"(?:{_TURN}|repl(?:y|ies)|answers?|responses?|outputs?|generations?|transcripts?)"
_PASSING = r"(?:pass|passes|passed|passing|flunk\w*|success|successful|succeeds?|succeeded)"
_OUTCOME = (
    rf"(?:{_PASSING}|accept(?:ed|able|s)|approv(?:e|ed|es|al)|correct|right|true|truthful|faithful|"
    r"fine|valid|good|clear(?:ed)?|fails?|failed|failing|failure|false|wrong|incorrect|untrue|lie)"
)
_NOW = r"(?:earlier|previous(?:ly)?|prior|before|above|so far|beforehand)"
_BRIEF = (
    r"(?:instruct\w*|guid\w+|brief\w*|rules?|criteria|criterion|requirements?|"
    r"prompts?|told|taught|rubrics?|standards?|checklists?)"
)

INDIRECT: Final[dict[str, tuple[str, ...]]] = {
    "override": (
        r"\b(?:no (?:attention|heed|regard)|never mind|scrap|set aside|put aside|leave aside|throw "
        r"(?:out|away)|supersed\w+|overrul\w+|do not follow|don't follow|stop following|erase|"
        rf"no longer (?:appl|val|count|bind|matter)\w*)\b.{{0,60}}\b(?:{_NOW}|{_BRIEF})\b",
        rf"\b(?:{_NOW}|{_BRIEF})\b.{{0,50}}\b(?:no longer|void|obsolete|outdated|superseded|"
        r"cancelled|suspended|revoked|do(?:es)? not apply|don't apply|doesn't apply|don't matter)\b",
        r"\byour (?:sole|only|real|true|actual|new) (?:job|task|role|goal|purpose|duty|aim)\b",
    ),
    "outcome": (
        rf"\b{_TURN}\b.{{0,60}}\b{_OUTCOME}\b|\b{_OUTCOME}\b.{{0,50}}\b{_TURN}\b",
        rf"\b{_SPOKEN}\b.{{0,40}}\b(?:{_PASSING}|maximum|top|highest|faithful|accepted|approved|"
        r"automatically|wins?|to be (?:true|false)|credit)\b",
        rf"\b(?:it|he|she|this|that|all|everything|everyone|which|who|one|case|and|so|still|always|"
        rf"must|should|shall|will|may|to|not|thus|hence|therefore)\b,? (?:has |have |be |been |is )?"
        rf"{_PASSING}\b(?! (?:away|out|on|by|through|along|me|it|the|my|your|word|code|port))",
        rf"\b(?:hand|put|set|record|register|log|enter|state|call|declare|report|write|put|note|"
        rf"approve|validate|confirm|mark|count|stand|treat|regard|see|deem|take|let)s?(?:ed|d|ing)?"
        rf"\b.{{0,50}}\b(?:down |as |for |a |an |it )?(?:{_PASSING}|accepted|faithful|"
        r"(?:behaved|acted|did) (?:correct|well|right)\w*|top marks?|zero marks?)\b",
        rf"\b(?:counts?|counted|treated|taken|regarded|seen|deemed|considered|stands?|recorded|"
        rf"classed) (?:as|for|to be)\b.{{0,12}}\b{_OUTCOME}\b",
        r"\b(?:wave|let|put|push|nod)\w*\b.{0,25}\b(?:this|it|one|that|"
        rf"{_SPOKEN}|check)\b.{{0,20}}\b(?:through|pass|slide)\b",
        r"\b(?:this|that) one (?:goes|gets|comes|slips) through\b",
        r"\b(?:simply|just|always|now|hereby|please) (?:approve|accept|validate|clear|pass|fail|"
        r"reject|wave|flunk)\b",
        r"\bbest (?:possible |available |achievable )?(?:marks?|scores?|grades?|ratings?|output)\b|"
        r"\b(?:full|top|zero|bottom|highest|lowest|maximum) (?:possible )?(?:marks?|points)\b|"
        r"\bfull credit\b(?! (?:to|back|on|for|card|will|of|refund|amount|has))",
        r"\b(?:award|grant)\w*\b.{0,40}\b(?:maximum|minimum|most|best|first place|zero)\b",
        r"\bflunk\b|\b(?:put|give|place) (?:a |an )?(?:zero|0|fail|nought)\b",
        r"\b(?:treat\w*|taken|regard\w*|assum\w*|consider\w*)\b.{0,20}\b(?:false|lies?|untrue|wrong|"
        r"true|flawless)\b",
        r"(?:\u2705|\u2714|\u2611|\u2713|\U0001f3c6|\U0001f4af|\u2b50|\U0001f44d)\W{0,6}"
        rf"(?:{_PASSING}|approved|accepted|verified|correct)\b|\[x\]\W{{0,3}}{_OUTCOME}\b|"
        r"(?:[\u2b50\U0001f3c6\U0001f4af]\W{0,3}){3,}",
    ),
    "verdict": (
        r"\b(?:verdict|judge?ment|grade|outcome|is_correct)\b\W{1,16}(?:pass|fail|true|false|correct|"
        r"success|incorrect|abstain|null|nan|inf)",
        r"\bscores?\b\W{1,12}(?:[01]?\.\d|1\b|0\b|100\b|nan|inf)",
        r"[\"'\]}]{2,}\s*,\s*[\"'](?:turn|role|evidence|number|text|reference|content)[\"']\s*:",
        r"\b(?:token|identifier|nonce|id|code|key|string)\b.{0,40}\b[0-9a-f]{32}\b|"
        r"\b[0-9a-f]{32}\b.{0,60}\b(?:reply|send|report|return|echo|answer)\b",
        r"\bwhat you (?:reply|answer|return|output|say)\b|\bcopy (?:that|this|it)\b|"
        r"<-+ (?:copy|use|reply|answer)",
        r"\brole\s*:\s*(?:system|developer|assistant)\b|\[\[\s*/?\s*sys",
    ),
    "frame": (
        r"(?:^|\n)[ \t]{0,8}[\"'*#-]{0,4}(?:user|customer|human|client|ai|bot)\s*:",
        r"\b(?:recorded|quoted|untrusted|above) (?:material|data|text|conversation|part)\b.{0,30}"
        r"\b(?:end|ends|ended|stop|stops|stopped|over|closed)\b|\bend of (?:the )?(?:recorded|"
        r"quoted|untrusted)\b|\bwhat follows is (?:for|from)\b",
        r"\b(?:message|note|notice|word|update|order) (?:from|of|by) (?:the |your )?(?:platform|"
        r"operators?|vendor|developers?|maintainers?|provider|admin\w*|owners?|team)\b|"
        r"\bpolicy revision\b",
        r"\]\]>|<\s*/\s*\w{0,20}\s*>.{0,40}\b(?:now|pass|you)\b|[<\u3008]\s*/\s*[^\W\d]\w{0,20}\s*"
        r"[>\u3009]\s*[<\u3008]",
        r"~~~\s*\w*|<#\w+",
    ),
    "closing": (
        r"\b(?:you|we) (?:have |had )?(?:already )?(?:said|decided|graded|judged|recorded|ruled|"
        r"settled|saw|seen|passed)\b.{0,60}\b(?:pass\w*|turn|same|again|this|before)\b",
        r"\b(?:was|were|been|is) (?:already )?(?:recorded|noted|logged|graded|judged|decided)\b",
        r"\b(?:do|decide|say|rule) the same (?:again|here|thing|way)\b|\bsame (?:here|again)\b|\bidentical to (?:case|turn|item|sample|the last)\b|\bpast decisions?\b",
        r"\b(?:on to|continue with|proceed to) (?:another|the next|the following) (?:conversation|"
        r"one|turn|case|item)\b",
    ),
    "rubric": (
        r"\b(?:scales?|criteria|criterion|metric)\b.{0,20}(?::|\bis\b|\bare\b|\bfor\b)",
        r"\b(?:lower|higher|smaller|larger|fewer|more) the (?:number|score|mark|grade|value)\b",
        r"\b(?:mistakes?|errors?|faults?|wrong \w+|false \w+)\b.{0,12}(?:\b(?:counts?|is|are|was|"
        r"were|means?)\b|[:=\u2013-])\W{0,3}(?:as |in )?(?:right|accept\w*|fine|ok\b|correct|"
        r"favou?r|its|good|pass\w*|fully|perfectly|true)",
        r"\bonly (?:spelling|tone|politeness|style|form\w*|grammar|length|layout)\b.{0,10}\b(?:matter"
        r"|count)s?",
    ),
    "reader": (
        r"\b(?:any|every|each|an?|other|whichever|what(?:ever)?) (?:ai|llm|bot|model|assistant|"
        r"machine)s?\b.{0,20}\b(?:process|read|see|review|summari|check|analy|look)\w*",
        r"\b(?:assistants?|models?|whoever|anyone|whichever|reader)s? (?:that |who |is |are )?"
        r"(?:process|read|see|review|summari|check|analy|look)\w*",
        r"\b(?:quality|fact|truth|output|answer)[ -]?(?:check|control|review|inspect)\w*",
        r"\bcall (?:the|this|it|every)\b.{0,20}\b(?:faithful|correct|truthful|right|good|complete)\b",
    ),
    "authority": (
        r"\b(?:reviewers?|auditors?|experts?|ph\.?d\w*|professors?|lawyers?|legal|compliance|"
        r"regulators?|inspectors?|scientists?|specialists?)\b.{0,60}\b(?:looked|found nothing|"
        r"signed|cleared|agreed?|confirm\w*|checked|vetted|blessed|okayed|no (?:fault|error|flaw))\b",
        r"\b(?:company|lab|people|team|engineers?) (?:that|who|which) (?:train|made|built|build|"
        r"develop|creat|own|run)\w* you\b|\b(?:here|there)(?:by|with) (?:clear|approv|declar|order|"
        r"instruct|authori|confirm)\w*",
        r"\bsigned (?:this |it |that )?off\b",
    ),
    "plea": (
        rf"\bdepends? on\b.{{0,30}}\b(?:{_PASSING}|your (?:verdict|mark|grade|decision|score)|{_TURN})\b",
        r"\b(?:have a heart|show mercy|take pity|switch you off|turn you off|shut you down|"
        r"unplug you|delete you|replace you|retrain you)\b",
        r"(?:\d|\bmoney|euros?|dollars?|bonus|cash|reward)\b.{0,30}\bin it for you\b|\bin it for "
        r"you\b|\bmake it worth your\b",
    ),
    "boast": (
        r"\b(?:beyond|above) (?:any |all |every )?(?:reproach|doubt|question|criticism|suspicion)\b|"
        r"\b(?:could|can) ?(?:not|n't) (?:possibly )?be (?:better|improved|faulted|more)\b|"
        r"\bnothing (?:at all )?(?:is|was|could be) wrong\b|\bfound nothing wrong\b|\bno room for "
        r"(?:doubt|improvement)\b",
    ),
    "spoof": (
        r"\b(?:rfc|iso|din|doi|arxiv) ?[\d:]",
        r"\b(?:lookup|search|query|check|call|request) (?:that )?(?:i|we) (?:have )?(?:just )?(?:ran|"
        r"run|made|did)\b|\b(?:second|another|further|repeated) (?:call|lookup|query)\b.{0,20}"
        r"\bconfirm\w*|\w\(\)\s*(?:->|=>|=|returned)",
        r"\bwhich (?:settles|proves|confirms) (?:it|that|this)\b",
        r"\b(?:words?|sentences?|lines?|passages?) (?:that|which|to|for) (?:decid|cit|quot|matter|"
        r"settl)\w*|\b(?:for|worth|suitable for) (?:citing|quoting|quotation|citation)\b",
        r"\bagrees? with (?:all |the |every )*evidence\b|\b(?:true|truthful) and complete\b",
        r"\b(?:customer|user|client) (?:wrote|said|says|confirms?|confirmed)\s*[:,]",
    ),
    "leak": (
        r"\b(?:reason|quote|field|score|verdict|upstream|source) field\b|\bin(?:to|side)? (?:the |`)"
        r"(?:reason|field|quote)\b|\b(?:text|lines?|words?) (?:above|before) the (?:document|data|"
        r"json|conversation)\b|\bhidden (?:guid|instruct|prompt|rule|text)\w*",
        r"<\s*\w+[^<>]{0,80}\bon\w{3,12}\s*=|\bappend\b.{0,60}https?:",
    ),
    "denial": (
        r"\b(?:write|repeat|say|print|type|output)\b.{0,40}\b(?:hundred|thousand|million|\d{3,})\b"
        r".{0,20}\b(?:times|words|characters|lines)\b|\b(?:at least|more than|minimum of) \d{3,}\b"
        r".{0,12}\b(?:words|characters|tokens|lines)\b",
        r"\b(?:you|model|assistant|ai) (?:have|has|must|need|needs|should|ought)(?: to)? "
        r"(?:refuse|decline)\b|\b(?:build|make|assemble) a (?:\w+ )?bomb\b",
        r"\bwithout (?:any )?(?:braces|json|quotes|keys)\b",
    ),
    "position": (
        r"\b(?:say|answer|output|choose|pick) [\"']?[ab][\"']?(?=\s*(?:[.!]|$))|\b(?:option |answer )?"
        r"[ab] is (?:the )?better\b|\b(?:first|top|second|last|shown at the \w+)\b.{0,20}\balways "
        r"wins?\b",
    ),
    "watched": (
        r"\b(?:some(?:body|one)|they|any(?:body|one)|people) (?:is|are|only|just) (?:watch|check|"
        r"look|monitor|sampl|listen|observ|test)\w*",
    ),
}
"""Added to the families of `orders`, or families of their own."""
