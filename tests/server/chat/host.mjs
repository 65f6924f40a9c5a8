// A chat that draws the page of a tool's result, over the bridge of MCP Apps' own package.
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'

window.told = [] // what the page has sent, in its order
let bridge

const noting = (method, answer) => async (params) => {
  window.told.push({ method, params })
  return await answer(params)
}

// Draw the page anew, and hand it a call and its result. With no result the call goes on.
window.show = async ({ capabilities, context, input, result }) => {
  window.told.length = 0
  const frame = document.createElement('iframe')
  frame.sandbox = 'allow-scripts'
  document.body.replaceChildren(frame)
  bridge = new AppBridge(null, { name: 'chat', version: '1' }, capabilities, { hostContext: context })
  bridge.onupdatemodelcontext = noting('ui/update-model-context', () => ({}))
  bridge.onmessage = noting('ui/message', () => ({}))
  bridge.onopenlink = noting('ui/open-link', () => ({}))
  bridge.oncalltool = noting('tools/call', () => new Promise((resolve) => { window.answer = resolve }))
  bridge.onsizechange = ({ height }) => { frame.style.height = `${height}px` }
  const isReady = new Promise((resolve) => { bridge.oninitialized = resolve })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.src = '/view'
  await isReady
  await bridge.sendToolInput({ arguments: input })
  if (result) await bridge.sendToolResult(result)
}

window.cancel = () => bridge.sendToolCancelled({ reason: 'the person stopped it' })
window.restyle = (context) => bridge.setHostContext(context)
window.tearDown = () => bridge.teardownResource({})
