// The SDKs of the vendors for node, with loops of our own.
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import { call, described, schemaOf, serve } from './common.mjs'

const names = Object.keys(described)
const functions = names.map((name) => ({ name, description: described[name][0], parameters: schemaOf(name) }))

async function loop(turn) {
  for (let round = 0; round < 9; round++) {
    const text = await turn()
    if (text !== undefined) return { text }
  }
  return { error: 'too many rounds' }
}

function chat({ base_url, model, stream, prompt }) {
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: 'k', maxRetries: 0 })
  const messages = [{ role: 'user', content: prompt }]
  const tools = functions.map((each) => ({ type: 'function', function: each }))
  return loop(async () => {
    const body = { model, messages, tools }
    const made = stream
      ? (await client.chat.completions.stream(body).finalChatCompletion()).choices[0].message
      : (await client.chat.completions.create(body)).choices[0].message
    messages.push(made)
    if (!made.tool_calls?.length) return made.content
    for (const { id, function: each } of made.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: call(each.name, JSON.parse(each.arguments)) })
    }
  })
}

function responses({ base_url, model, stream, prompt }) {
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: 'k', maxRetries: 0 })
  const input = [{ role: 'user', content: prompt }]
  const tools = functions.map((each) => ({ type: 'function', strict: true, ...each }))
  return loop(async () => {
    const body = { model, input, tools }
    const made = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
    input.push(...made.output)
    const calls = made.output.filter((each) => each.type === 'function_call')
    if (!calls.length) return made.output_text
    for (const each of calls) {
      const output = call(each.name, JSON.parse(each.arguments))
      input.push({ type: 'function_call_output', call_id: each.call_id, output })
    }
  })
}

function anthropic({ base_url, model, stream, prompt }) {
  const client = new Anthropic({ baseURL: base_url, apiKey: 'k', maxRetries: 0 })
  const messages = [{ role: 'user', content: prompt }]
  const tools = functions.map(({ parameters, ...each }) => ({ ...each, input_schema: parameters }))
  return loop(async () => {
    const body = { model, messages, tools, max_tokens: 2000 }
    const made = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
    messages.push({ role: 'assistant', content: made.content })
    const calls = made.content.filter((each) => each.type === 'tool_use')
    if (!calls.length) return made.content.filter((each) => each.type === 'text').map((each) => each.text).join('')
    const content = calls.map(({ id, name, input }) => {
      const result = call(name, input)
      return { type: 'tool_result', tool_use_id: id, content: result, is_error: result.startsWith('Error') }
    })
    messages.push({ role: 'user', content })
  })
}

function gemini({ base_url, model, stream, prompt }) {
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: base_url } })
  const contents = [{ role: 'user', parts: [{ text: prompt }] }]
  const functionDeclarations = functions.map(({ parameters, ...each }) => ({ ...each, parametersJsonSchema: parameters }))
  return loop(async () => {
    const body = { model, contents, config: { tools: [{ functionDeclarations }] } }
    const parts = []
    if (stream) {
      for await (const chunk of await client.models.generateContentStream(body)) {
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
      }
    } else {
      parts.push(...(await client.models.generateContent(body)).candidates[0].content.parts)
    }
    contents.push({ role: 'model', parts })
    const calls = parts.filter((each) => each.functionCall)
    if (!calls.length) return parts.filter((each) => !each.thought).map((each) => each.text ?? '').join('')
    const answers = calls.map(({ functionCall: { id, name, args } }) => (
      { functionResponse: { id, name, response: { result: call(name, args) } } }
    ))
    contents.push({ role: 'user', parts: answers })
  })
}

function ollama({ base_url, model, stream, prompt }) {
  const client = new Ollama({ host: base_url })
  const messages = [{ role: 'user', content: prompt }]
  const tools = functions.map((each) => ({ type: 'function', function: each }))
  return loop(async () => {
    const body = { model, messages, tools }
    const made = { role: 'assistant', content: '', tool_calls: [] }
    const pieces = stream ? await client.chat({ ...body, stream: true }) : [await client.chat(body)]
    for await (const { message } of pieces) {
      made.content += message.content
      made.tool_calls.push(...(message.tool_calls ?? []))
    }
    messages.push(made)
    if (!made.tool_calls.length) return made.content
    for (const { function: each } of made.tool_calls) {
      messages.push({ role: 'tool', tool_name: each.name, content: call(each.name, each.arguments) })
    }
  })
}

const loops = { 'openai-chat': chat, 'openai-responses': responses, anthropic, gemini, ollama }
await serve((cell) => loops[cell.protocol](cell))
