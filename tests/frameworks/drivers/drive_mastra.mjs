// Mastra: four protocols, with the provider packages of Vercel's AI SDK.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { described, serve, tools } from './common.mjs'

const kinds = { string: z.string(), integer: z.number().int() }
const declared = Object.fromEntries(Object.entries(described).map(([name, [description, fields]]) => {
  const shape = Object.fromEntries(Object.entries(fields).map(([key, kind]) => [key, kinds[kind]]))
  const execute = async (input) => tools[name](input.context ?? input)
  return [name, createTool({ id: name, description, inputSchema: z.object(shape), execute })]
}))

function model({ protocol, base_url, model: name }) {
  const options = { apiKey: 'k' }
  if (protocol === 'anthropic') return createAnthropic({ ...options, baseURL: `${base_url}/v1` })(name)
  if (protocol === 'gemini') return createGoogleGenerativeAI({ ...options, baseURL: `${base_url}/v1beta` })(name)
  const openai = createOpenAI({ ...options, baseURL: `${base_url}/v1` })
  return protocol === 'openai-chat' ? openai.chat(name) : openai.responses(name)
}

await serve(async (cell) => {
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Help.', model: model(cell), tools: declared })
  const options = { maxSteps: 9 }
  if (!cell.stream) return { text: (await agent.generate(cell.prompt, options)).text }
  const made = await agent.stream(cell.prompt, options)
  return { text: await made.text }
})
