"""Facts: remember, revise, recall by meaning, look back, bring back, and put them into a prompt. Needs indelible[embed]."""

from __future__ import annotations

from indelible import MemoryStore, MockModel, ask_with_memory

with MemoryStore(":memory:") as store:  # give a path to keep it
    ada = store.scope(user_id="ada", agent_id="assistant")
    drink = ada.remember("Ada drinks green tea in the morning", source="ada")
    ada.remember("The deploy runs every Friday at noon", metadata={"project": "website"})
    ada.remember("Grace is allergic to peanuts")

    # By meaning: no word of the question stands in the memory.
    print(ada.recall("favourite beverage")[0].content)
    # -> Ada drinks green tea in the morning

    # By words, without loading a model, and filtered by metadata.
    print([hit.content for hit in ada.search("FRIDAY deploy", filters={"project": "website"})])
    # -> ['The deploy runs every Friday at noon']

    # A revision: the same record, one version on.
    ada.edit(drink.id, content="Ada drinks black coffee in the morning")
    print(ada.recall("favourite beverage")[0].content)
    # -> Ada drinks black coffee in the morning

    # Nothing was lost.
    for change in ada.history(drink.id):
        print(change.op, change.record.content if change.record else "")
    # -> remember Ada drinks green tea in the morning
    # -> revise Ada drinks black coffee in the morning

    # Forgetting hides; undo brings back.
    ada.forget(drink.id)
    print(ada.get(drink.id))
    # -> None
    back = ada.undo(drink.id)
    print(back.content if back else "nothing to bring back")
    # -> Ada drinks black coffee in the morning

    # What a model is shown. Any callable from text to text is a model, and so are those of LangChain and LlamaIndex.
    model = MockModel("Coffee, as every morning.")
    answer = ask_with_memory("What does Ada drink?", ada, model, limit=1)
    print(answer.value, len(answer.used), answer.left_out)
    # -> Coffee, as every morning. 1 2
