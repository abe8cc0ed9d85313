import {
  type ApiVersion,
  describeGate,
  type Gate,
  gates,
  type VersionName,
  versionNames,
} from "../../../../contract/versions.ts";
import { hookTypeNames, hookTypes } from "../../../../contract/webhooks/hook-types.ts";
import { statusAt } from "../routing/version-gate.ts";

const older = versionNames[0];
const current = versionNames[1];

/**
 * How to migrate from one version to the next, operation by operation, as the content of a page.
 * @param known the versions of this server.
 */
export function migrationNotes(known: ReadonlyMap<VersionName, ApiVersion>, now: Date): string {
  return `<main><h1>Moving between versions</h1>
${statesSection(known, now)}
${overviewSection}
${stepsSection}
${operationsSection}
${uploadSection}
${progressSection}
${hooksSection}
</main>`;
}

function statesSection(known: ReadonlyMap<VersionName, ApiVersion>, now: Date): string {
  const rows = [...known.values()].map(
    (version) =>
      `<tr><td>${version.name}</td><td>${statusAt(version, now)}</td><td>${version.sunsetOn ?? "none set"}</td></tr>`,
  );
  return `<p>Every request sends its version in the header <code>Public-Api-Version</code>. This server runs:</p>
<table><thead><tr><th>Version</th><th>Status</th><th>Ends on</th></tr></thead><tbody>
${rows.join("\n")}
</tbody></table>
<ul>
<li><b>current</b>: gets new features.</li>
<li><b>deprecated</b>: works as before. Every response, including errors, has <code>Deprecation</code> (since when, RFC 9745) and
<code>Link</code> to this page.</li>
<li><b>sunsetting</b>: works until the date in the header <code>Sunset</code> (RFC 8594) of every response. In the 90 days before it the
rate limit falls linearly to a tenth; <code>x-ratelimit-limit</code> shows it. Without a date the limit is halved.</li>
<li><b>retired</b>: requests fail with 410 and <code>version_retired</code>. A sunsetting version is retired automatically on its date.</li>
</ul>`;
}

const newHooks = new Intl.ListFormat("en-GB").format(
  hookTypeNames.filter((type) => hookTypes[type].gate === "new_hooks").map((type) => `<code>${type}</code>`),
);

const gateWords: Readonly<Record<Exclude<Gate, "every_version">, string>> = {
  staged_uploads: "Create, List, Get, Update and Promote Upload",
  token_info: "Token Info",
  new_hooks: `Hook types ${newHooks}`,
  https_hook_urls: "Hook URLs must be https",
  one_step_upload: "Upload Recording",
  upload_status_hook: "Hook type <code>upload_status</code>",
};

const overviewSection = `<h2>What differs</h2>
<p>Uploading recordings, and the hooks about it. Everything else is the same in all versions: paths, bodies and responses.</p>
<table><thead><tr><th>Part</th><th>Exists in</th></tr></thead><tbody>
${(Object.keys(gates) as Exclude<Gate, "every_version">[])
  .map((gate) => `<tr><td>${gateWords[gate]}</td><td>${describeGate(gate)}</td></tr>`)
  .join("\n")}
</tbody></table>`;

const stepsSection = `<h2>From ${older} to ${current} without downtime</h2>
<ol>
<li>Send <code>Public-Api-Version: ${current}</code> with every request except uploads. The version belongs to the request, not to
the token: you can use both versions with the same token.</li>
<li>Create hooks of type <code>upload_updated</code> with an https URL, in addition to those of type <code>upload_status</code>.</li>
<li>Migrate the uploads as shown below.</li>
<li>Delete the hooks of type <code>upload_status</code>, with the older version.</li>
<li>Search your logged responses for the header <code>Deprecation</code>: when none has it, you are done.</li>
</ol>`;

const unchanged = [
  "List Recordings",
  "Get Recording",
  "Transcript (JSON, txt, vtt, srt)",
  "Download Recording",
  "Update Recording",
  "Add Tag, Remove Tag",
  "Share to User or Team, Unshare",
  "List Users",
  "List Teams",
  "List Meeting Types",
  "OAuth token",
];

const operationsSection = `<h2>Operation by operation</h2>
<table><thead><tr><th>${older}</th><th>${current}</th><th>What to change</th></tr></thead><tbody>
${unchanged.map((name) => `<tr><td>${name}</td><td>the same</td><td>only the header</td></tr>`).join("\n")}
<tr><td>Create Hook</td><td>the same</td><td>the URL must be https; type <code>upload_status</code> is gone,
${newHooks} are new</td></tr>
<tr><td>List Hooks, Delete Hook</td><td>the same</td><td>a list shows the types of its version;
<code>GET /_/api/v1/hooks</code> shows all</td></tr>
<tr><td>Upload Recording<br><code>POST /recordings/upload</code></td><td>Create Upload<br><code>POST /uploads/create</code></td>
<td><a href="#upload">below</a></td></tr>
<tr><td>none: wait for a hook</td><td>Get Upload, List Uploads</td><td>read the status at any time</td></tr>
<tr><td>none</td><td>Update Upload, Promote Upload</td><td>with <code>auto_promote: false</code>, review before it becomes a
recording</td></tr>
<tr><td>none</td><td>Token Info</td><td>the token's owner and expiry</td></tr>
</tbody></table>`;

const uploadSection = `<h2 id="upload">Uploads</h2>
<p>Before, in ${older}:</p>
<pre>curl -X POST "$BASE/_/public-api/v2/recordings/upload" -H "Authorization: Bearer $TOKEN" \\
  -H "Public-Api-Version: ${older}" -H "Content-Type: application/json" \\
  -d '{"filename": "Harbour contract.mp4", "user_id": "'$USER_ID'"}'
# {"uuid": "…", "url": "…", "max_duration_sec": 10800, "max_upload_bytes": 4294967296}
curl -T "Harbour contract.mp4" "$URL"</pre>
<p>After, in ${current}:</p>
<pre>curl -X POST "$BASE/_/public-api/v2/uploads/create" -H "Authorization: Bearer $TOKEN" \\
  -H "Public-Api-Version: ${current}" -H "Content-Type: application/json" \\
  -d '{"media_type": "video", "attributes": {"title": "Harbour contract", "recorder_ids": ["'$USER_ID'"]}}'
# {"id": "…", "status": "awaiting", "media": {"upload": {"url": "…", "headers": {"If-None-Match": "*"}, …}}, …}
curl -T "Harbour contract.mp4" -H "If-None-Match: *" "$URL"
curl -X POST "$BASE/_/public-api/v2/uploads/$ID" -H "Authorization: Bearer $TOKEN" \\
  -H "Public-Api-Version: ${current}"
# {"id": "…", "status": "success", "recording_id": "…", …}</pre>
<table><thead><tr><th>${older}</th><th>${current}</th></tr></thead><tbody>
<tr><td><code>filename</code>, which gave format and title</td><td><code>media_type</code> (<code>video</code>,
<code>audio</code>) and <code>attributes.title</code></td></tr>
<tr><td><code>user_id</code> (required with a workspace token)</td><td><code>attributes.recorder_ids</code> (required with a
workspace token)</td></tr>
<tr><td><code>uuid</code></td><td><code>id</code></td></tr>
<tr><td><code>url</code></td><td><code>media.upload.url</code></td></tr>
<tr><td>no headers on the PUT</td><td>every header of <code>media.upload.headers</code> on the PUT, which fails with 428
without <code>If-None-Match: *</code></td></tr>
<tr><td><code>max_duration_sec</code>, <code>max_upload_bytes</code></td><td>the same names in <code>media.upload</code></td></tr>
<tr><td>.mov, .mp4, .mp3, .m4a, converted where needed</td><td>mp4 (one h264 track of at most 720 lines, aac, a keyframe every 6 s)
or mp3, at least 10 s: files are not converted, and other files fail with the reason</td></tr>
</tbody></table>
<p>Convert other files first, for example:</p>
<pre>ffmpeg -i meeting.mov -map 0:v:0 -map 0:a:0 -c:v libx264 -vf "scale=-2:'min(720,ih)'" \\
  -force_key_frames "expr:gte(t,n_forced*5)" -c:a aac meeting.mp4
ffmpeg -i meeting.m4a -map 0:a:0 -c:a libmp3lame meeting.mp3</pre>
<p>New: start, team, participants and your own transcript in <code>attributes</code>, transcript-only uploads, and
<code>auto_promote: false</code>, which leaves the upload <code>staged</code> until Promote Upload.</p>`;

const progressSection = `<h2>Progress</h2>
<p><code>upload_status</code> reported progress. <code>upload_added</code> and <code>upload_updated</code> report every status:</p>
<pre>{"type": "upload_status", "user_id": "…", "data": {"uuid": "…", "status": "success", "message": "…",
  "progress": 100, "recording_id": "…", "error": null}}

{"type": "upload_updated", "user_id": "…", "data": {"id": "…", "media_type": "video", "title": "…",
  "status": "success", "auto_promote": true, "recording_id": "…", "created_datetime": "…", "updated_datetime": "…"}}</pre>
<table><thead><tr><th>upload_status</th><th>upload_updated</th></tr></thead><tbody>
<tr><td><code>data.uuid</code></td><td><code>data.id</code></td></tr>
<tr><td><code>data.status</code></td><td><code>data.status</code>, with <code>staged</code> in addition</td></tr>
<tr><td><code>data.recording_id</code></td><td><code>data.recording_id</code>, set once the status is <code>success</code></td></tr>
<tr><td><code>data.error</code></td><td><code>failure.reason</code> of Get Upload, while the status is <code>failure</code></td></tr>
<tr><td><code>data.message</code>, <code>data.progress</code></td><td>none: use the status</td></tr>
</tbody></table>`;

const hooksSection = `<h2>Hooks</h2>
<pre>curl -X POST "$BASE/_/public-api/v2/hooks/create" -H "Authorization: Bearer $TOKEN" \\
  -H "Public-Api-Version: ${current}" -H "Content-Type: application/json" \\
  -d '{"hook_url": "https://example.com/parley", "hook_type": "upload_updated"}'</pre>
<p>With ${current} an <code>http:</code> URL is refused with <code>invalid_input</code> at <code>/hook_url</code>. Hooks created with
${older} keep their URL and type and get the same payloads. Deliveries and signatures
are the same in both versions.</p>`;
