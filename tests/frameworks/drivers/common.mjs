// What the drivers in JavaScript share: the tools, and the loop that reads cells.
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'

export const tools = {
  get_weather: ({ city }) => 'weather-' + createHash('sha256').update(city).digest('hex').slice(0, 8),
  add: ({ a, b }) => String(a + b),
  lookup: ({ key }) => { throw new Error(`no such key: ${key}`) },
}
export const described = {
  get_weather: ['The weather in a city.', { city: 'string' }],
  add: ['The sum of two numbers.', { a: 'integer', b: 'integer' }],
  lookup: ['The value of a key.', { key: 'string' }],
}
export const schemaOf = (name) => {
  const properties = Object.fromEntries(Object.entries(described[name][1]).map(([k, type]) => [k, { type }]))
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
export const call = (name, args) => {
  try { return tools[name](args) } catch (error) { return `Error: ${error.message}` }
}

const say = (answer) => process.stdout.write('\n' + JSON.stringify({ toolglot: answer }) + '\n')

export async function serve(run) {
  say({ ready: true })
  for await (const line of createInterface({ input: process.stdin })) {
    let answer
    try {
      answer = await run(JSON.parse(line))
    } catch (error) {
      console.error(error)
      answer = { error: `${error.name}: ${error.message}`.slice(0, 400) }
    }
    say(answer)
  }
}
