// Another client, that would sign its person in: connects without a token, and tells how it failed.
// node sign_in.mjs ERA URL
const [era, url] = process.argv.slice(2)
const packages = {
  legacy: ['@modelcontextprotocol/sdk/client/index.js', '@modelcontextprotocol/sdk/client/streamableHttp.js'],
  modern: ['@modelcontextprotocol/client', '@modelcontextprotocol/client'],
}
const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all(
  packages[era].map((name) => import(name)),
)
const seen = { sentTo: null }
const authProvider = {
  redirectUrl: 'http://127.0.0.1:9/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1:9/callback'], client_name: 'sign-in' },
  clientInformation: () => undefined,
  saveClientInformation: () => {},
  tokens: () => undefined,
  saveTokens: () => {},
  redirectToAuthorization: (page) => {
    seen.sentTo = String(page)
  },
  saveCodeVerifier: () => {},
  codeVerifier: () => 'verifier',
}
const client = new Client({ name: 'sign-in', version: '1.0.0' })
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }))
} catch (error) {
  seen.error = `${error.name}: ${error.message}`
}
console.log(JSON.stringify(seen))
