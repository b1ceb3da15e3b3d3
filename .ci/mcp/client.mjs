// An MCP client made with the official TypeScript SDK. It lists the tools, gives one request, follows the Task until it is
// over, and prints what it saw as one JSON object.
//
//   client.mjs ERA REQUEST URL                 over Streamable HTTP
//   client.mjs ERA REQUEST COMMAND [ARGUMENT…]  over stdio
//
// ERA is "legacy" (initialize) or "modern" (2026-07-28).
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const [era, request, target, ...args] = process.argv.slice(2)
const transport = /^https?:/.test(target)
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, stderr: 'ignore' })
const mode = era === 'modern' ? { pin: '2026-07-28' } : 'legacy'
const client = new Client({ name: 'official-typescript', version: '1' }, { versionNegotiation: { mode } })
await client.connect(transport)
const tools = (await client.listTools()).tools.map(t => t.name)
const text = async (name, values) => (await client.callTool({ name, arguments: values })).content.map(c => c.text).join('\n')
const accepted = await text('agent_run', { request })
const id = accepted.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/)[0]
let status = ''
for (const end = Date.now() + 60000; Date.now() < end; ) {
  status = await text('agent_status', { task_id: id })
  if (/\((completed|failed|cancelled)\)/.test(status)) break
  await new Promise(done => setTimeout(done, 50))
}
const bad = await client.callTool({ name: 'agent_status', arguments: { task_id: 7 } })
const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion
const server = client.getServerVersion()?.name
await client.close()
console.log(JSON.stringify({ version, server, tools, accepted, status, bad: bad.isError === true }))
