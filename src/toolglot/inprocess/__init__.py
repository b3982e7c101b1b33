"""The gateway inside a program: a transport for SDKs, and a tool loop. No port, no thread."""
