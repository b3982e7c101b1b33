// Vercel's AI SDK: four protocols, each with its provider package.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai'
import { z } from 'zod'
import { described, serve, tools } from './common.mjs'

const kinds = { string: z.string(), integer: z.number().int() }
const declared = Object.fromEntries(Object.entries(described).map(([name, [description, fields]]) => {
  const shape = Object.fromEntries(Object.entries(fields).map(([key, kind]) => [key, kinds[kind]]))
  return [name, tool({ description, inputSchema: z.object(shape), execute: async (input) => tools[name](input) })]
}))

function model({ protocol, base_url, model: name }) {
  const options = { apiKey: 'k' }
  if (protocol === 'anthropic') return createAnthropic({ ...options, baseURL: `${base_url}/v1` })(name)
  if (protocol === 'gemini') return createGoogleGenerativeAI({ ...options, baseURL: `${base_url}/v1beta` })(name)
  const openai = createOpenAI({ ...options, baseURL: `${base_url}/v1` })
  return protocol === 'openai-chat' ? openai.chat(name) : openai.responses(name)
}

await serve(async (cell) => {
  const content = [{ type: 'text', text: cell.prompt }]
  if (cell.image) content.push({ type: 'image', image: cell.image, mediaType: 'image/png' })
  const asked = { model: model(cell), messages: [{ role: 'user', content }], maxRetries: 0 }
  if (cell.scenario === 'schema') {
    const schema = z.object({ city: z.string(), degrees: z.number().int() })
    const made = cell.stream ? streamObject({ ...asked, schema }) : await generateObject({ ...asked, schema })
    if (cell.stream) for await (const _ of made.partialObjectStream);
    return { object: await made.object }
  }
  const full = { ...asked, tools: cell.scenario === 'image' ? {} : declared, stopWhen: stepCountIs(9) }
  if (!cell.stream) return { text: (await generateText(full)).text }
  let failed
  const made = streamText({ ...full, onError: ({ error }) => { failed = error } })
  await made.consumeStream()
  if (failed) throw failed
  return { text: await made.text }
})
