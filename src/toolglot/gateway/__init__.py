"""The gateway: any client in, any provider out. The only part that does network I/O."""
