"""Things that may be absent: models that embed, count or write, RDF, TypeDB, timers. Each says in one line what is missing."""
