// LangChain for JavaScript: four protocols, each with its integration package.
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOllama } from '@langchain/ollama'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'
import { call, described, serve } from './common.mjs'

const kinds = { string: z.string(), integer: z.number().int() }
const declared = Object.entries(described).map(([name, [description, fields]]) => {
  const shape = Object.fromEntries(Object.entries(fields).map(([key, kind]) => [key, kinds[kind]]))
  return tool(async (input) => call(name, input), { name, description, schema: z.object(shape) })
})

function model({ protocol, base_url, model: name }) {
  if (protocol === 'anthropic') return new ChatAnthropic({ model: name, apiKey: 'k', anthropicApiUrl: base_url, maxRetries: 0 })
  if (protocol === 'ollama') return new ChatOllama({ model: name, baseUrl: base_url, maxRetries: 0 })
  const configuration = { baseURL: `${base_url}/v1` }
  return new ChatOpenAI({ model: name, apiKey: 'k', configuration, maxRetries: 0, useResponsesApi: protocol === 'openai-responses' })
}

await serve(async (cell) => {
  const agent = createAgent({ model: model(cell), tools: declared })
  const messages = [{ role: 'user', content: cell.prompt }]
  if (!cell.stream) return { text: (await agent.invoke({ messages })).messages.at(-1).text }
  let last
  for await (const [mode, value] of await agent.stream({ messages }, { streamMode: ['messages', 'values'] })) {
    if (mode === 'values') last = value
  }
  return { text: last.messages.at(-1).text }
})
