/** Runs the built nodes on n8n's own engine against the server at PARLEY_URL: every operation, then the trigger. */
const assert = require("node:assert/strict");
const { readFileSync, truncateSync, writeFileSync } = require("node:fs");
const { createServer } = require("node:https");
const { createHash, randomBytes } = require("node:crypto");
const { ClientOAuth2 } = require("@n8n/client-oauth2");
const { Container } = require("@n8n/di");
const { BinaryDataService, HookContext, WebhookContext, WorkflowExecute } = require("n8n-core");
const { createRunExecutionData, Workflow } = require("n8n-workflow");
const { Parley, ParleyApi, ParleyOAuth2Api, ParleyTrigger } = require("../dist/index.js");
const { operations } = require("../dist/nodes/operations.js");

const { PARLEY_URL, PARLEY_TOKEN, MEETING, TLS_KEY, TLS_CERTIFICATE } = process.env;
const types = { parley: new Parley(), parleyTrigger: new ParleyTrigger(), start: startNode() };
const credential = new ParleyApi();
const oauthCredential = new ParleyOAuth2Api();
const { OAUTH_CALLBACK, OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAUTH_USER } = process.env;
/** What the user enters in the OAuth credential, and later the tokens. */
let oauthData = {
  baseUrl: `${PARLEY_URL}/`,
  clientId: OAUTH_CLIENT_ID,
  clientSecret: OAUTH_CLIENT_SECRET,
};

/** A node that passes its input on, as n8n's manual trigger does. */
function startNode() {
  return {
    description: {
      displayName: "Start",
      name: "start",
      group: ["trigger"],
      version: 1,
      description: "",
      defaults: {},
      inputs: [],
      outputs: ["main"],
      properties: [],
    },
    async execute() {
      return [this.getInputData()];
    },
  };
}

/** The values of the OAuth credential: hidden ones are the defaults, resolved as n8n does. */
function readOAuthCredential() {
  const defaults = Object.fromEntries(
    oauthCredential.properties.map((property) => [property.name, property.default]),
  );
  const values = { ...defaults, ...oauthData };
  const workflow = workflowOf({ type: "parley", parameters: {} });
  return workflow.expression.getParameterValue(
    values,
    null,
    0,
    0,
    "Parley",
    [],
    "internal",
    {},
    undefined,
    false,
    values,
  );
}

/** Stands for n8n's store of credentials: it has one of each, and signs requests as the credential's class says. */
const credentialsHelper = {
  getParentTypes: (type) => (type === oauthCredential.name ? oauthCredential.extends : []),
  isCredentialUsableByNode: () => true,
  getCredentialsProperties: () => credential.properties,
  getDecrypted: async (_data, _node, type) =>
    type === oauthCredential.name
      ? readOAuthCredential()
      : { baseUrl: `${PARLEY_URL}/`, token: PARLEY_TOKEN },
  async updateCredentialsOauthTokenData(_node, _type, { oauthTokenData }) {
    oauthData = { ...oauthData, oauthTokenData };
  },
  preAuthentication: async () => undefined,
  runPreAuthentication: async () => undefined,
  async authenticate({ token }, _type, request) {
    const { Authorization } = credential.authenticate.properties.headers;
    const value = Authorization.replace(/^=/, "").replace("{{$credentials.token}}", token);
    return { ...request, headers: { ...request.headers, Authorization: value } };
  },
};

const additionalData = {
  credentialsHelper,
  webhookBaseUrl: "https://n8n.test/webhook",
  webhookTestBaseUrl: "https://n8n.test/webhook-test",
  webhookWaitingBaseUrl: "https://n8n.test/webhook-waiting",
  formWaitingBaseUrl: "https://n8n.test/form-waiting",
  restApiUrl: "https://n8n.test/rest",
  instanceBaseUrl: "https://n8n.test",
  variables: {},
  currentNodeExecutionIndex: 0,
  hooks: { runHook: async () => undefined, addHandler: () => undefined },
  logAiEvent: () => undefined,
};

/** @param staticData what n8n has stored of the workflow's own data. */
function workflowOf(node, staticData = {}) {
  const nodes = [
    { id: "1", name: "Start", type: "start", typeVersion: 1, position: [0, 0], parameters: {} },
    {
      id: "2",
      name: "Parley",
      typeVersion: 1,
      position: [0, 0],
      webhookId: "parley",
      credentials: {
        parleyApi: { id: "1", name: "Parley" },
        parleyOAuth2Api: { id: "2", name: "Parley with OAuth" },
      },
      ...node,
    },
  ];
  return new Workflow({
    id: "workflow",
    nodes,
    connections: { Start: { main: [[{ node: "Parley", type: "main", index: 0 }]] } },
    active: true,
    staticData,
    nodeTypes: {
      getByName: (name) => types[name],
      getByNameAndVersion: (name) => types[name],
      getKnownTypes: () => ({}),
    },
  });
}

/** Runs one operation in a workflow. @returns the items that come out. */
async function run(operation, parameters = {}, item = { json: {} }) {
  const { resource } = operations.find(({ value }) => value === operation) ?? { resource: "upload" };
  const workflow = workflowOf({ type: "parley", parameters: { resource, operation, ...parameters } });
  const start = workflow.getNode("Start");
  const data = createRunExecutionData({
    executionData: {
      contextData: {},
      metadata: {},
      waitingExecution: {},
      waitingExecutionSource: {},
      nodeExecutionStack: [{ node: start, data: { main: [[item]] }, source: null }],
    },
  });
  const result = await new WorkflowExecute(additionalData, "manual", data).processRunExecutionData(workflow);
  const { error } = result.data.resultData;
  if (error) throw error;
  called.add(operation);
  return result.data.resultData.runData.Parley[0].data.main[0];
}

const called = new Set();

async function until(find) {
  for (;;) {
    const found = await find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function runEveryOperation() {
  const [token] = await run("tokenInfo");
  const userId = token.json.user_id;
  assert.ok((await run("listUsers")).some(({ json }) => json.id === userId));
  const [team] = await run("listTeams");
  await run("listMeetingTypes");

  const file = readFileSync(MEETING);
  const binary = { data: { data: file.toString("base64"), mimeType: "audio/mpeg", fileName: "meeting.mp3" } };
  const [sent] = await run(
    "uploadFile",
    { binaryField: "data", attributes: '{"title": "From n8n"}' },
    { json: {}, binary },
  );
  const recordingId = await until(async () => {
    const [upload] = await run("getUpload", { upload_id: sent.json.id, include: "{}" });
    assert.notEqual(upload.json.status, "failure");
    return upload.json.recording_id;
  });
  const [staged] = await run("createUpload", {
    media_type: "transcript",
    auto_promote: false,
    include: "{}",
    attributes: JSON.stringify({
      title: "Transcript from n8n",
      transcript: {
        language: "en",
        segments: [{ speaker_key: "a", start: 0, end: 2000, text: "Good morning." }],
      },
    }),
  });
  const upload_id = staged.json.id;
  await run("updateUpload", { upload_id, attributes: { title: "Changed" }, include: "{}" });
  await run("promoteUpload", { upload_id, include: "{}" });
  const transcriptId = await until(
    async () => (await run("getUpload", { upload_id, include: "{}" }))[0].json.recording_id,
  );
  const uploads = await run("listUploads", { filter: "{}", include: "{}", returnAll: false, limit: 1 });
  assert.deepEqual(
    uploads.map(({ json }) => json.id),
    [upload_id],
  );

  const every = await run("listRecordings", { filter: "{}", include: "{}", returnAll: true });
  const some = await run("listRecordings", { filter: "{}", include: "{}", returnAll: false, limit: 3 });
  assert.ok(every.length > 100, "more than one page is read");
  assert.equal(some.length, 3);

  const recording_id = recordingId;
  await run("updateRecording", { recording_id, title: "Renamed by n8n" });
  await run("addTag", { recording_id, tag: "n8n" });
  await run("shareToUser", { recording_id, user_id: userId });
  await run("shareToTeam", { recording_id, team_id: team.json.id });
  const [recording] = await run("getRecording", { recording_id, include: { participants: true } });
  assert.equal(recording.json.title, "Renamed by n8n");
  assert.deepEqual(recording.json.tags, ["n8n"]);
  assert.ok(Array.isArray(recording.json.participants));
  await run("unshareFromTeam", { recording_id, team_id: team.json.id });
  await run("unshareFromUser", { recording_id, user_id: userId });
  await run("removeTag", { recording_id, tag: "n8n" });
  const [{ binary: downloaded }] = await run("downloadRecording", { recording_id });
  assert.deepEqual(Buffer.from(downloaded.data.data, "base64"), file);

  const [entry] = await run("getTranscript", { recording_id: transcriptId });
  assert.equal(entry.json.text, "Good morning.");
  const [text] = await run("getTranscript_txt", { recording_id: transcriptId });
  assert.match(text.json.text, /: Good morning\./);
  const [vtt] = await run("getTranscript_vtt", { recording_id: transcriptId });
  assert.match(vtt.json.text, /^WEBVTT/);
  const [srt] = await run("getTranscript_srt", { recording_id: transcriptId });
  assert.match(srt.json.text, /00:00:00,000 --> /);

  // The server's own explanation reaches the user.
  await assert.rejects(run("addTag", { recording_id, tag: "not a tag" }), (error) =>
    /must start with a letter or digit/.test(error.message),
  );
  return recordingId;
}

/** Connects the OAuth credential with n8n's own OAuth client, as its server does, and runs operations with it. */
async function runWithOAuth() {
  const values = readOAuthCredential();
  assert.equal(values.authUrl, `${PARLEY_URL}/_/public-api/oauth2/authorize`);
  assert.equal(values.grantType, "pkce");
  const verifier = randomBytes(32).toString("base64url");
  const client = new ClientOAuth2({
    clientId: values.clientId,
    clientSecret: values.clientSecret,
    authorizationUri: values.authUrl,
    accessTokenUri: values.accessTokenUrl,
    authentication: values.authentication,
    redirectUri: OAUTH_CALLBACK,
    state: "state",
    query: {
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    },
  });
  const user = await fetch(OAUTH_USER, { method: "POST", body: client.code.getUri() });
  const token = await client.code.getToken(await user.text(), { body: { code_verifier: verifier } });
  oauthData = { ...oauthData, oauthTokenData: token.data };
  const authentication = "oAuth2";
  const [info] = await run("tokenInfo", { authentication });
  assert.equal(info.json.type, "oauth");
  const some = { authentication, filter: "{}", include: "{}", returnAll: false, limit: 3 };
  assert.equal((await run("listRecordings", some)).length, 3);
  // An access token that has expired is refreshed, and the new one stored.
  oauthData.oauthTokenData = { ...token.data, access_token: "expired" };
  assert.equal((await run("tokenInfo", { authentication }))[0].json.type, "oauth");
  assert.notEqual(oauthData.oauthTokenData.access_token, "expired");
}

/** Uploads a large file that n8n keeps on disk, as it does by default. */
async function uploadLargeFile() {
  const files = Container.get(BinaryDataService);
  await files.init();
  const megabytes = 150;
  writeFileSync("large", "");
  truncateSync("large", megabytes * 2 ** 20);
  const data = await files.copyBinaryFile(
    { type: "execution", workflowId: "workflow", executionId: "1" },
    { mimeType: "video/mp4", fileName: "large.mp4" },
    "large",
  );
  assert.ok(data.id, "the file is not in memory");
  let bufferedBytes = 0;
  const sampling = setInterval(() => {
    bufferedBytes = Math.max(bufferedBytes, process.memoryUsage().arrayBuffers);
  }, 10);
  const [sent] = await run(
    "uploadFile",
    { binaryField: "data", attributes: "{}" },
    { json: {}, binary: { data } },
  );
  clearInterval(sampling);
  // Pieces that were sent stay until the garbage collector runs, so more than a few are counted.
  assert.ok(bufferedBytes < 0.75 * megabytes * 2 ** 20, `${bufferedBytes} bytes were in memory`);
  assert.notEqual(sent.json.status, "awaiting");
}

async function runTrigger(recordingId) {
  const received = [];
  const trigger = {
    type: "parleyTrigger",
    parameters: { event: "recording_updated", include: '{"participants": true}' },
  };
  const workflow = workflowOf(trigger);
  const node = workflow.getNode("Parley");
  // n8n stores the data of a workflow after its webhooks were created, and reads it for each request.
  let stored = "{}";
  const store = () => {
    stored = JSON.stringify(workflow.staticData);
  };
  const server = createServer({ key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERTIFICATE) }, respond);
  async function respond(request, response) {
    const parts = await request.toArray();
    // As n8n's server gives them to nodes.
    request.rawBody = Buffer.concat(parts);
    response.status = (code) => Object.assign(response, { statusCode: code });
    response.send = (body) => {
      response.end(body);
      return { end: () => undefined };
    };
    const data = { ...additionalData, httpRequest: request, httpResponse: response };
    const [webhook] = types.parleyTrigger.description.webhooks;
    const current = workflowOf(trigger, JSON.parse(stored));
    const context = new WebhookContext(
      current,
      current.getNode("Parley"),
      data,
      "webhook",
      { webhookDescription: webhook },
      [],
      null,
    );
    const result = await types.parleyTrigger.webhook.call(context);
    if (result.workflowData) {
      received.push(...result.workflowData[0]);
      response.end("ok");
    }
  }
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `https://localhost:${server.address().port}`;
  const { checkExists, create, delete: remove } = types.parleyTrigger.webhookMethods.default;
  const context = (webhookBaseUrl = base) =>
    new HookContext(workflow, node, { ...additionalData, webhookBaseUrl }, "trigger", "activate", undefined);
  const hooks = async () =>
    (await run("listHooks", { filter: '{"state": "enabled"}' })).filter(({ json }) =>
      json.hook_url.startsWith(base),
    );
  const activate = async (url) => {
    assert.equal(await checkExists.call(context(url)), false);
    assert.equal(await create.call(context(url)), true);
    store();
    assert.equal(await checkExists.call(context(url)), true);
    assert.equal((await hooks()).length, 1);
  };
  await activate();
  // Activated again after n8n's URL has changed, and after the webhook was deleted in Parley.
  await activate(`${base}/n8n`);
  const [old] = await hooks();
  await run("deleteHook", { hook_id: old.json.id });
  await activate();

  await run("updateRecording", { recording_id: recordingId, title: "An event for n8n" });
  const event = await until(() => received.find(({ json }) => json.data.title === "An event for n8n"));
  assert.equal(event.json.type, "recording_updated");
  assert.ok(Array.isArray(event.json.data.participants), "with the include");

  const before = received.length;
  const forged = await fetch(`${base}${new URL(context().getNodeWebhookUrl("default")).pathname}`, {
    method: "POST",
    headers: {
      "webhook-id": "1",
      "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
      "webhook-signature": "v1,AAAA",
    },
    body: JSON.stringify({ type: "recording_updated", data: {} }),
  });
  assert.equal(forged.status, 401);
  assert.equal(received.length, before, "a forged request does not start the workflow");

  assert.equal(await remove.call(context()), true);
  assert.equal(await checkExists.call(context()), false);
  assert.deepEqual(await hooks(), []);
  server.closeAllConnections();
  server.close();
}

async function main() {
  const recordingId = await runEveryOperation();
  await runTrigger(recordingId);
  await runWithOAuth();
  await uploadLargeFile();
  // A receiver that accepts everything.
  const server = createServer(
    { key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERTIFICATE) },
    (_request, response) => response.end("ok"),
  );
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const hook_url = `https://localhost:${server.address().port}/`;
  const [made] = await run("createHook", { hook_url, hook_type: "story_added", include: "{}" });
  await run("deleteHook", { hook_id: made.json.id });
  server.closeAllConnections();
  server.close();
  const missing = operations.map(({ value }) => value).filter((value) => !called.has(value));
  assert.deepEqual(missing, []);
  process.stdout.write("every operation called\n");
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
