"""The cases, a module for each part of the specification."""
from . import certificates, content, documents, envelopes, framing, keys, lists, ordering, paths, payloads, sequences, tars

MODULES = [framing, envelopes, documents, certificates, keys, payloads, tars, paths, content, lists, ordering, sequences]
