"""How fast Indelible is beside other stores that keep text, metadata, a vector and a scope on disk: ``python -m benchmarks.speed``.

Every store works in a process of its own and is asked the same questions in turn, so that whatever disturbs the machine disturbs all
alike. The modules that a worker of the peers' interpreter loads import nothing of Indelible and nothing of the other benchmarks.
"""
