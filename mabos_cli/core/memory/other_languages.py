"""Statements in other languages than English: which these are, and what in them says outright that it is to be kept, and as what.

The model of statements knows English best. In another language it is believed only where it is sure; what asks to be remembered, is
labelled, was decided, holds always or never, or tells a preference or a name is told by its words, language by language. All else stays
an observation.
"""

import re

_SURE = 0.25, 0.6  # at most so likely noise, and so likely of its type where it is none
# Words that are frequent in a language and none of English.
_FREQUENT = frozenset(
    "der das und nicht ich wir ein eine einen für mit auf zu den dem im ist sind bitte unser unsere mein meine wird haben werden sich auch dir mir mal aus vom kommt dass "
    "le la les des est et nous je ne pas une pour avec du au à notre mon ma que qui dans ce sont vous il elle "
    "el los las y en una con por nuestro nuestra mi está es lo se del al como pero "
    "lo gli è non che di per sono nostro della il con anche ho abbiamo grazie "
    "os não que um uma com nosso nossa meu minha está são para do da no "
    "het een niet wij ik voor op van onze mijn zijn ook naar hebben te om".split()
) - frozenset("no la al com do da on per con es en se op".split())
_ENGLISH = frozenset(
    "the are we i you to of and for with my our it this that not have has be will does never always use from by they".split()
)
_ASKS = re.compile(
    r"(?:(?:bitte|por favor|per favore|s'il te plaît|graag|пожалуйста),? )?(?:"
    r"merke? dir|denke? (?:bitte )?daran|vergiss nicht|notiere?|rappelle-toi|souviens-toi|n'oublie pas|retiens|note bien|recuerda|no olvides"
    r"|ten en cuenta|anota|apunta|ricorda(?:ti)?|non dimenticare|tieni presente|lembra-te|lembre-se|não (?:te )?esqueças?|onthoud|vergeet niet"
    r"|запомни(?:те)?|не забудь(?:те)?|覚えておいて(?:ください|ね)?|覚えて(?:ください|ね)?|忘れないで(?:ください)?|请?记住|請?記住|기억해(?: ?줘|주세요)?"
    r")(?:,? (?:que|che|что)\b| qu')?[\s:：,，、–—-]*",
    re.IGNORECASE,
)
# By type, in the order in which they are tried: a label in front, and words that may stand anywhere.
_LABELS = {
    "decision": "Entscheidung|Beschluss|Décision|Decisión|Decisione|Decisão|Besluit|Beslissing|Решение|決定(?:事項)?|决定|결정",
    "instruction": "Regel|Vorgabe|Règle|Consigne|Regla|Regola|Regra|Правило|ルール|规则|規則|규칙",
}
_SAYS = {
    "decision": r"\b(?:entschieden|beschlossen|(?:avons|a|ai) décidé|decidido|decidimos|deciso|besloten|решили|решила?)\b"
    "|決めました|決めた|ことにしました|ことにした|决定|決定|결정했",
    "person": r"\b(?:mein name ist|ich heiße|je m'appelle|me llamo|mi chiamo|me chamo|ik heet|mijn naam is|меня зовут)\b|名前は.+です|我叫|我的名字",
    "preference": r"\b(?:bevorzuge|am liebsten|préfère|préférons|prefiero|preferimos|preferisco|prefiro|liever|предпочитаю)\b"
    "|好きです|好みです|更?喜欢|偏好|좋아",
    "instruction": r"\b(?:immer|nie|niemals|ab jetzt|ab sofort|künftig|in zukunft|grundsätzlich|toujours|jamais|désormais|dorénavant"
    "|à partir de maintenant|siempre|nunca|jamás|a partir de ahora|de ahora en adelante|sempre|mai|d'ora in poi|a partir de agora|altijd|nooit"
    r"|vanaf nu|всегда|никогда|отныне|впредь)\b|常に|必ず|絶対に|決して|今後は?|总是|始终|从不|絕不|绝不|今后|항상|절대",
}  # fmt: skip
_LABEL = {kind: re.compile(rf"(?:{names})\s*[:：]\s*(?P<rest>\S.*)", re.IGNORECASE) for kind, names in _LABELS.items()}
_SAID = {kind: re.compile(words, re.IGNORECASE) for kind, words in _SAYS.items()}
# Who tells of somebody gives no rule; and a question is none.
_TOLD = re.compile(
    r"\b(?:ich|er|sie|es|je|j'|il|elle|yo|él|ella|io|lui|lei|eu|ele|ela|ik|hij|zij|я|он|она)\b|j'", re.IGNORECASE
)
_QUESTION = re.compile(r"[?？]\s*$|^¿|か。?$|[吗嗎呢]。?$")


def is_other_language(text: str) -> bool:
    """Returns whether a statement is in another language than English: by its script, or its frequent words.

    >>> [is_other_language(text) for text in ("Wir nutzen Postgres", "Ana met Jürgen at the café", "短い回答が好きです")]
    [True, False, True]
    """
    letters = [c for c in text if c.isalpha()]
    if sum(c > "\u02ff" for c in letters) * 3 > len(letters):
        return True
    words: list[str] = re.findall(r"[^\W\d_]+", text)
    accents = sum(word[0].islower() and not word.isascii() for word in words)
    return accents + sum(word.lower() in _FREQUENT for word in words) > _count_english(text)


def _count_english(text: str) -> int:
    return sum(word in _ENGLISH for word in re.findall(r"[a-z]+", text.lower()))


def read_cue(text: str) -> tuple[str, str] | None:
    """Returns the type and text of a statement in another language that says outright that it is to be kept, or None.

    >>> read_cue("Bitte merk dir: wir deployen nie freitags"), read_cue("Décision : nous gardons Stripe"), read_cue("Das sieht gut aus")
    (('instruction', 'wir deployen nie freitags'), ('decision', 'nous gardons Stripe'), None)
    """
    asked = _ASKS.match(text)
    rest = text[asked.end() :].strip() if asked else text
    if _QUESTION.search(text) or len(rest) < 4 or (_count_english(text) and not is_other_language(text)):
        return None
    rest = text if re.match("(?i:dass|dat) ", rest) else rest  # where the order of words depends on it
    for kind, label in _LABEL.items():
        if match := label.fullmatch(rest):
            return kind, match["rest"]
    for kind, words in _SAID.items():
        if words.search(rest) and (asked or kind != "instruction" or not _TOLD.search(rest)):
            return kind, rest
    return ("fact", rest) if asked else None


def is_sure(shares: dict[str, float], noise: str) -> bool:
    """Returns whether a model is sure enough of a statement in another language, by how likely each type is."""
    kept = {kind: share for kind, share in shares.items() if kind != noise}
    return shares[noise] <= _SURE[0] and max(kept.values()) >= _SURE[1] * sum(kept.values())
