"""HTTP/1.1 for a relay: a client and a server on asyncio protocols and httptools.

A relay handles bytes, not documents. What arrives is passed on in the callback in which it arrived;
coroutines are resumed only for what really waits. llhttp, the parser of Node.js behind httptools,
decides what is valid HTTP, and it is strict.
"""
