import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  type TestUser,
} from "../../../../test/support/factories.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const bytes = randomBytes(8_000_000);

const manage = (method: string, path: string, token: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });
const reach = (url: string) => url.replace("http://parley.test", app.url);
const statusOf = async (url: string) => {
  const response = await fetch(reach(url));
  await response.body?.cancel();
  return response.status;
};

/** A recording of the member's with every kind of file. */
async function makeFiles(): Promise<string> {
  const { recordingId: id } = await makeRecording(app, member.token);
  for (const [name, body] of [
    ["media.mp4", bytes],
    ["thumbnail.jpg", Buffer.from("a picture")],
    ["waveform.json", Buffer.from("[]")],
  ] as const)
    await app.store.put(recordingObjectKey(id, name), body, {});
  await app.db.pool.query("update recordings set has_thumbnail = true, media_type = 'video' where id = $1", [
    id,
  ]);
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
    [id],
  );
  return id;
}

/** Every URL to a file of the recording that the API gives to a token. */
async function urlsFor(recordingId: string, token: string): Promise<string[]> {
  const [recording, download, media, highlights] = [
    await call(app, "POST", `/recordings/${recordingId}`, { include: { highlights: true } }, { token }),
    await call(app, "GET", `/recordings/${recordingId}/download`, undefined, { token }),
    await manage("GET", `/recordings/${recordingId}/media`, token),
    await manage("GET", `/recordings/${recordingId}/highlights`, token),
  ];
  const urls = [
    recording.body.thumbnail_url,
    recording.body.highlights[0].thumbnail_url,
    highlights.body.highlights[0].thumbnail_url,
    download.headers.get("location"),
    media.body.media.url,
    media.body.thumbnail_url,
    media.body.waveform_url,
  ];
  for (const url of urls) assert.equal(await statusOf(url), 200, url);
  return urls;
}

const cases: [how: string, share: (id: string, user: TestUser) => Promise<() => Promise<unknown>>][] = [
  [
    "it is unshared from the user",
    async (id, user) => {
      await call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: member.token });
      return () =>
        call(app, "DELETE", `/recordings/${id}/users/${user.id}`, undefined, { token: member.token });
    },
  ],
  [
    "it is unshared from the user's team",
    async (id, user) => {
      const team = await makeTeam(app.db, workspace, [user]);
      await call(app, "PUT", `/recordings/${id}/teams`, { team_id: team.id }, { token: member.token });
      return () =>
        call(app, "DELETE", `/recordings/${id}/teams/${team.id}`, undefined, { token: member.token });
    },
  ],
  [
    "the user leaves the team",
    async (id, user) => {
      const team = await makeTeam(app.db, workspace, [user]);
      await call(app, "PUT", `/recordings/${id}/teams`, { team_id: team.id }, { token: member.token });
      return () => manage("DELETE", `/teams/${team.id}/members/${user.id}`, admin.token);
    },
  ],
  [
    "it is restricted again",
    async (id) => {
      await manage("PATCH", `/recordings/${id}`, member.token, { share_state: "workspace" });
      return () => manage("PATCH", `/recordings/${id}`, member.token, { share_state: "restricted" });
    },
  ],
  [
    "the user is deactivated",
    async (id, user) => {
      await call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: member.token });
      return () => manage("POST", `/users/${user.id}/deactivate`, admin.token);
    },
  ],
];

for (const [how, share] of cases)
  test(`file URLs stop working when ${how}; those of others keep working`, async () => {
    const id = await makeFiles();
    await manage("POST", `/recordings/${id}/highlights`, member.token, {
      text: "A part",
      timestamp: 0,
      duration: 1000,
    });
    const user = await makeUser(app.db, workspace);
    const unshare = await share(id, user);
    const urls = await urlsFor(id, user.token);
    const own = [...(await urlsFor(id, member.token)), ...(await urlsFor(id, workspace.token))];
    await unshare();
    for (const url of urls) assert.equal(await statusOf(url), 404, url);
    for (const url of own) assert.equal(await statusOf(url), 200, url);
    await call(app, "DELETE", `/_/api/v1/recordings/${id}`, undefined, {
      token: member.token,
      version: null,
    });
    for (const url of own) assert.equal(await statusOf(url), 404, url);
  });

test("a running download is cut off soon after the recording is unshared", async () => {
  const id = await makeFiles();
  const user = await makeUser(app.db, workspace);
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: member.token });
  const download = await call(app, "GET", `/recordings/${id}/download`, undefined, { token: user.token });
  const cutOff = new Promise<boolean>((resolve, reject) => {
    let received = 0;
    get(reach(download.headers.get("location") ?? ""), (response) => {
      response.on("data", (piece: Buffer) => {
        received += piece.length;
        // Slower than the look that is to come: the server must still have much to send.
        response.pause();
        setTimeout(() => response.resume(), 100);
      });
      response.on("error", () => resolve(true));
      response.on("close", () => resolve(received < bytes.length));
    }).on("error", (error) => (received === 0 ? reject(error) : resolve(true)));
  });
  await call(app, "DELETE", `/recordings/${id}/users/${user.id}`, undefined, { token: member.token });
  assert.equal(await cutOff, true);
});
