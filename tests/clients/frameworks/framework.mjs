// The MCP client of an agent framework in TypeScript, used as its guide says. FRAMEWORK and TARGET
// are in the environment; calls come as JSON on standard input, and what was seen of each goes out.
import { readFileSync } from 'node:fs'

const PATIENCE = 300_000
const target = JSON.parse(process.env.TARGET)
const calls = JSON.parse(readFileSync(0, 'utf8'))
let reply, asked

function answer(message) {
  asked.push(message)
  return reply ?? { action: 'cancel' }
}

const words = (result) =>
  typeof result === 'string'
    ? result
    : (result?.content?.map((part) => part.text ?? '').join(' ') ?? JSON.stringify(result))

async function aiSdk() {
  const { createMCPClient, ElicitationRequestSchema } = await import('@ai-sdk/mcp')
  const { Experimental_StdioMCPTransport } = await import('@ai-sdk/mcp/mcp-stdio')
  const client = await createMCPClient({
    transport: target.url ? { type: 'http', ...target } : new Experimental_StdioMCPTransport(target),
    capabilities: { elicitation: {} },
  })
  client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => answer(params.message))
  return {
    names: async () => Object.keys(await client.tools()),
    call: async (name, args) => {
      const tools = await client.tools()
      return await tools[name].execute(args, { messages: [], toolCallId: '1' })
    },
    close: () => client.close(),
  }
}

async function mastra(name, isNew) {
  const { MCPClient } = await import(name)
  const ask = async ({ params }) => answer(params.message)
  const server = target.url
    ? { url: new URL(target.url), requestInit: { headers: target.headers } }
    : target
  const client = new MCPClient({
    id: 'frameworks',
    timeout: PATIENCE,
    servers: { host: isNew ? { ...server, inputRequests: ask } : server },
  })
  if (!isNew) await client.elicitation.onRequest('host', async (params) => answer(params.message))
  return {
    names: async () => Object.keys(await client.listTools()).map((it) => it.replace('host_', '')),
    call: async (tool, args) => (await client.listTools())[`host_${tool}`].execute(args, {}),
    close: () => client.disconnect(),
  }
}

const FRAMEWORKS = {
  ai_sdk: aiSdk,
  mastra1: () => mastra('mastra1', false),
  mastra2: () => mastra('@mastra/mcp', true),
}

const { names, call, close } = await FRAMEWORKS[process.env.FRAMEWORK]()
for (const it of calls) {
  reply = it.reply
  asked = []
  const report = { name: it.name, asked }
  try {
    report.text =
      it.tool === 'tools/list' ? (await names()).join(' ') : words(await call(it.tool, it.arguments))
  } catch (error) {
    report.text = `${error.name}: ${error.message}`
    console.error(error)
  }
  console.log(JSON.stringify(report))
}
await close()
process.exit(0)
