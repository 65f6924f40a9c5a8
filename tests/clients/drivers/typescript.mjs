// The official TypeScript clients, 1.x (legacy) and 2.x (both eras): reads cases as JSON, answers
// as they say, tells what was seen. PACKAGE, ERA and TARGET are in the environment.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const MODERN = '2026-07-28'
const SEEN_LIMIT = 16000
const { PACKAGE, ERA } = process.env
const target = JSON.parse(process.env.TARGET)
const isOld = PACKAGE === '@modelcontextprotocol/sdk'
const { Client, StreamableHTTPClientTransport, StdioClientTransport, ask } = await load()

async function load() {
  if (isOld) {
    const { ElicitRequestSchema } = await import(`${PACKAGE}/types.js`)
    return {
      ...(await import(`${PACKAGE}/client/index.js`)),
      ...(await import(`${PACKAGE}/client/streamableHttp.js`)),
      ...(await import(`${PACKAGE}/client/stdio.js`)),
      ask: ElicitRequestSchema,
    }
  }
  const all = { ...(await import(PACKAGE)), ...(await import(`${PACKAGE}/stdio`)) }
  return { ...all, ask: 'elicitation/create' }
}

class Person {
  begin(it) {
    this.told = { case: it.name, asked: [], progress: 0 }
    this.replies = [...it.replies]
    this.isAsked = new Promise((resolve) => (this.asked = resolve))
  }

  async answer({ params }) {
    this.told.asked.push({ message: params.message, url: params.url ?? null })
    const { action, content, after } = this.replies.shift() ?? { action: 'cancel' }
    if (action === 'leave') {
      console.log(JSON.stringify(this.told))
      process.exit(0)
    }
    if (action === 'stop') {
      this.asked()
      await new Promise(() => {})
    }
    await sleep((after ?? 0) * 1000)
    return content === undefined ? { action } : { action, content }
  }
}

function transport() {
  if (target.url === undefined) return new StdioClientTransport({ ...target, stderr: 'ignore' })
  const requestInit = { headers: target.headers }
  return new StreamableHTTPClientTransport(new URL(target.url), { requestInit })
}

async function connect(it, person) {
  const capabilities = it.declares ? { elicitation: { form: {}, url: {} } } : {}
  const mode = ERA === MODERN ? { pin: ERA } : 'legacy'
  const options = isOld ? { capabilities } : { capabilities, versionNegotiation: { mode } }
  const client = new Client({ name: 'matrix', version: '1.0.0' }, options)
  if (it.declares) client.setRequestHandler(ask, (request) => person.answer(request))
  const way = transport()
  // this client closes a server that it started by waiting for it; a test has no time for that
  await client.connect(way)
  return client
}

async function call(client, it, person, more = {}) {
  const onprogress = () => (person.told.progress += 1)
  const limits = it.limit && !more.tool ? { timeout: it.limit * 1000, resetTimeoutOnProgress: true } : {}
  const params = { name: more.tool ?? it.tool, arguments: { case: it.name } }
  const options = { onprogress, ...limits, signal: more.signal }
  const result = isOld
    ? await client.callTool(params, undefined, options)
    : await client.callTool(params, options)
  return result.content.map((part) => part.text ?? '').join(' ')
}

async function stop(client, it, person) {
  const aborting = new AbortController()
  const called = call(client, it, person, { signal: aborting.signal })
  const ended = called.catch((error) => (person.told.ended = String(error)))
  await person.isAsked
  aborting.abort()
  await Promise.race([ended, sleep(1000)]) // the modern era's call waits for the person still
  const end = Date.now() + SEEN_LIMIT
  do {
    await sleep(100)
    person.told.seen = await call(client, it, person, { tool: 'seen' })
  } while (person.told.seen === 'open' && Date.now() < end)
}

// A case that leaves its session as it was leaves it to the next one.
const shares = (it) => it.declares && !it.stops && !it.leaves && !it.limit

const person = new Person()
let client, shared
for (const it of JSON.parse(readFileSync(0, 'utf8'))) {
  person.begin(it)
  try {
    if (!(client && shared && shares(it))) {
      await client?.close()
      client = undefined
      client = await connect(it, person)
    }
    shared = shares(it)
    await call(client, it, person, { tool: 'seen' }) // a server that must start first is there
    if (it.stops) await stop(client, it, person)
    else person.told.text = await call(client, it, person)
  } catch (error) {
    person.told.error = `${error.name} ${error.code ?? ''}: ${error.message}`
  }
  console.log(JSON.stringify(person.told))
}
process.exit(0)
