// The version before of Vercel's AI SDK: the same calls.
await import('./drive_vercel_ai.mjs')
