"""Things that may be absent: embedding models and services. Each says in one line what is missing."""
