// Another client: calls one tool, does what its question says, and tells what it saw as JSON.
// node visit.mjs ERA URL TOOL, with the token in DCC_BRIDGE_TOKEN and the secret in SECRET.
const [era, url, tool] = process.argv.slice(2)
const told = { urls: [], ids: [], completed: [] }

async function enter(page) {
  const opened = await fetch(page)
  const cookie = opened.headers.get('set-cookie').split(';')[0]
  const body = new URLSearchParams({ exit: 'accept', secret: process.env.SECRET })
  const answered = await fetch(page, { method: 'POST', body, headers: { cookie } })
  if (!(await answered.text()).includes('Your answer was sent')) throw new Error('not sent')
}

async function ask({ params }) {
  told.urls.push(params.url)
  if (params.elicitationId !== undefined) told.ids.push(params.elicitationId)
  if (params.url.startsWith('http://127.0.0.1:')) await enter(params.url)
  return { action: 'accept' }
}

const info = { name: 'visit', version: '1.0.0' }
const options = { capabilities: { elicitation: { url: {} } } }
const headers = { Authorization: `Bearer ${process.env.DCC_BRIDGE_TOKEN}` }
let client, transport
if (era === 'legacy') {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport } = await import(
    '@modelcontextprotocol/sdk/client/streamableHttp.js'
  )
  const types = await import('@modelcontextprotocol/sdk/types.js')
  client = new Client(info, options)
  client.setRequestHandler(types.ElicitRequestSchema, ask)
  client.setNotificationHandler(types.ElicitationCompleteNotificationSchema, ({ params }) => {
    told.completed.push(params.elicitationId)
  })
  transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
} else {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  client = new Client(info, { ...options, versionNegotiation: { mode: { pin: era } } })
  client.setRequestHandler('elicitation/create', ask)
  transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
}
await client.connect(transport)
const result = await client.callTool({ name: tool, arguments: {} })
told.text = result.content.map((part) => part.text).join(' ')
await client.close()
console.log(JSON.stringify(told))
