"""What is learned of turns in other languages: clear statements with the right type, and nothing of the rest."""

import pytest

from mabos_cli.core.memory.judging import is_other_language, is_sure, read_cue
from mabos_cli.core.memory.learning import Turn, learn
from mabos_cli.services.memory.learning import load_judge

KEPT = {
    "Bitte merk dir: wir deployen nie freitags.": "instruction",
    "Wir haben entschieden, Stripe durch Adyen zu ersetzen.": "decision",
    "Ich bevorzuge kurze Antworten.": "preference",
    "Mein Name ist Jürgen.": "person",
    "Ab jetzt immer Tabs statt Leerzeichen verwenden.": "instruction",
    "Entscheidung: Wir nutzen Postgres.": "decision",
    "Rappelle-toi que nous ne déployons jamais le vendredi.": "instruction",
    "Nous avons décidé de remplacer Stripe par Adyen.": "decision",
    "Je préfère des réponses courtes.": "preference",
    "Je m'appelle Chloé.": "person",
    "Décision : nous utilisons Postgres.": "decision",
    "Recuerda que nunca desplegamos los viernes.": "instruction",
    "Hemos decidido sustituir Stripe por Adyen.": "decision",
    "Prefiero respuestas cortas.": "preference",
    "Usa siempre tabuladores.": "instruction",
    "Abbiamo deciso di usare Redis.": "decision",
    "We hebben besloten om Kafka te gebruiken.": "decision",
    "Vanaf nu altijd in het Nederlands antwoorden.": "instruction",
    "Decidimos usar o Redis.": "decision",
    "StripeをやめてAdyenを使うことに決めました。": "decision",
    "短い回答が好きです。": "preference",
    "常にタブを使ってください。": "instruction",
    "決定:Postgresを使います。": "decision",
    "请记住：我们周五从不部署。": "instruction",
    "我们决定用Adyen代替Stripe。": "decision",
    "Запомни: мы никогда не деплоим по пятницам.": "instruction",
}
LEFT = (
    "Ok, danke.",
    "Wie spät ist es?",
    "Kannst du die Tests laufen lassen?",
    "Das sieht gut aus.",
    "Schau dir mal die Datei app.py an.",
    "Das habe ich noch nie gesehen.",
    "Er kommt immer zu spät.",
    "Merci !",
    "Peux-tu lancer les tests ?",
    "Regarde le fichier app.py.",
    "Je n'ai jamais vu ça.",
    "Gracias.",
    "¿Puedes ejecutar las pruebas?",
    "Mira el archivo app.py.",
    "Vale, perfecto.",
    "Puoi controllare il log?",
    "Kun je dit even nakijken?",
    "ありがとう。",
    "今何時ですか?",
    "テストを実行してください。",
    "了解。",
    "谢谢。",
    "现在几点？",
    "Спасибо.",
    "Который час?",
)


def learned(text: str) -> list[tuple[str, str]]:
    return [(found.content, found.type) for found in learn([Turn("user", text)], load_judge())]


@pytest.mark.parametrize("text", KEPT)
def test_a_clear_statement_is_kept_with_its_type(text: str) -> None:
    [(content, kind)] = learned(text)
    assert kind == KEPT[text] and content[1:] in text  # as it was said, at most without the request to keep it


@pytest.mark.parametrize("text", LEFT)
def test_talk_is_left(text: str) -> None:
    assert learned(text) == []


@pytest.mark.parametrize(
    "text",
    (
        "Jürgen and I met at the café in Zürich",
        "We always use UTF-8",
        "The word toujours means always, and we use it in the docs",
        "our naïve résumé parser is for the HR team",
    ),
)
def test_english_with_words_from_elsewhere_is_english(text: str) -> None:
    assert not is_other_language(text) and read_cue(text) is None


def test_what_is_asked_to_be_kept_loses_the_request() -> None:
    assert read_cue("覚えておいて:金曜日にはデプロイしません。") == ("fact", "金曜日にはデプロイしません。")
    assert read_cue("Vergiss nicht, dass Anna anruft") == ("fact", "Vergiss nicht, dass Anna anruft")
    assert read_cue("N'oublie pas que Paul préfère le thé") == ("preference", "Paul préfère le thé")


def test_the_model_must_be_sure() -> None:
    assert is_sure({"-": 0.05, "fact": 0.9, "plan": 0.05}, "-")
    assert not is_sure({"-": 0.3, "fact": 0.65, "plan": 0.05}, "-")
    assert not is_sure({"-": 0.05, "fact": 0.5, "plan": 0.45}, "-")
