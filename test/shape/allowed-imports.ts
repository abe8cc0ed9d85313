/**
 * Which folder of server/ may import which. Every folder is listed; one that is missing, an import that is not listed and a
 * listed import that no longer exists each fail a test. Tests and test support are exempt.
 */

/** The areas of server/ from low to high: a file imports only from its own area and from those before it. */
export const areas = [
  "platform",
  "people",
  "recordings",
  "processing",
  "sharing",
  "connections",
  "governance",
  "operations",
] as const;

/** Parts of server/platform, which know nothing of meetings, and the other parts that each may import. */
export const platform: Readonly<Record<string, readonly string[]>> = {
  "platform/audit": ["platform/auth", "platform/db"],
  "platform/auth": [],
  "platform/coalesce": [],
  "platform/concurrency": [],
  "platform/config": ["platform/db", "platform/outbound", "platform/storage"],
  "platform/confinement": ["platform/db"],
  "platform/crypto": ["platform/db", "platform/storage"],
  "platform/db": ["platform/storage", "platform/version"],
  "platform/event-loop": ["platform/telemetry"],
  "platform/http": [
    "platform/auth",
    "platform/concurrency",
    "platform/config",
    "platform/crypto",
    "platform/db",
    "platform/jobs",
    "platform/json-limits",
    "platform/pages",
    "platform/storage",
    "platform/version",
  ],
  "platform/jobs": [
    "platform/concurrency",
    "platform/config",
    "platform/crypto",
    "platform/db",
    "platform/storage",
    "platform/telemetry",
  ],
  "platform/json-limits": [],
  "platform/log": [],
  "platform/model-server": ["platform/outbound"],
  "platform/outbound": ["platform/json-limits"],
  "platform/pages": [],
  "platform/run-in-slices": [],
  "platform/storage": ["platform/coalesce", "platform/concurrency", "platform/outbound"],
  "platform/telemetry": ["platform/outbound"],
  "platform/user-name": [],
  "platform/version": [],
};

/** Features and the other features that each may import. Every feature may import all of server/platform. */
export const features: Readonly<Record<string, readonly string[]>> = {
  "people/access": [],
  "people/accounts": ["people/access", "people/directory", "people/events"],
  "people/directory": ["people/access", "people/events"],
  "people/events": [],
  "people/oauth": ["people/accounts"],

  "recordings/highlights": [
    "people/access",
    "people/events",
    "recordings/public-link-records",
    "recordings/recordings",
  ],
  "recordings/library": ["people/access", "recordings/recordings", "recordings/trash"],
  "recordings/participants": ["recordings/recordings", "recordings/transcripts"],
  "recordings/public-link-records": ["recordings/recordings"],
  "recordings/recordings": ["people/access", "people/directory", "people/events"],
  "recordings/search": ["people/access", "recordings/recordings"],
  "recordings/stories": [
    "people/access",
    "people/events",
    "recordings/public-link-records",
    "recordings/recordings",
  ],
  "recordings/transcripts": ["people/events", "recordings/recordings"],
  "recordings/trash": [
    "people/access",
    "people/events",
    "recordings/public-link-records",
    "recordings/recordings",
  ],

  "processing/integrity": ["processing/media", "recordings/recordings"],
  "processing/intelligence": [
    "people/access",
    "people/events",
    "processing/media",
    "processing/models",
    "recordings/recordings",
  ],
  "processing/media": [],
  "processing/models": [],
  "processing/transcription": [
    "people/events",
    "processing/intelligence",
    "processing/media",
    "processing/models",
    "recordings/recordings",
    "recordings/transcripts",
  ],
  "processing/uploads": [
    "people/access",
    "people/directory",
    "people/events",
    "processing/integrity",
    "processing/intelligence",
    "processing/media",
    "processing/models",
    "processing/transcription",
    "recordings/recordings",
  ],

  "sharing/access-requests": ["people/accounts", "recordings/recordings"],
  "sharing/public-links": [
    "people/access",
    "people/accounts",
    "people/events",
    "processing/integrity",
    "processing/media",
    "recordings/highlights",
    "recordings/public-link-records",
    "recordings/recordings",
    "recordings/stories",
  ],

  "connections/exports": ["people/access", "processing/integrity", "recordings/recordings"],
  "connections/imports": [
    "connections/exports",
    "people/accounts",
    "people/directory",
    "processing/intelligence",
    "processing/uploads",
    "recordings/recordings",
    "recordings/transcripts",
  ],
  "connections/mcp": [],
  "connections/watched-folders": ["connections/imports", "processing/uploads", "recordings/recordings"],
  "connections/webhooks": [
    "people/access",
    "people/events",
    "processing/uploads",
    "recordings/highlights",
    "recordings/recordings",
    "recordings/stories",
  ],

  "governance/audit": [],
  "governance/retention": [
    "governance/audit",
    "people/access",
    "people/accounts",
    "people/events",
    "processing/intelligence",
    "processing/uploads",
    "recordings/recordings",
    "recordings/transcripts",
  ],

  "operations/backup": [
    "governance/audit",
    "operations/storage-maintenance",
    "people/accounts",
    "processing/integrity",
  ],
  "operations/metrics": [],
  "operations/move": [
    "governance/audit",
    "operations/backup",
    "operations/storage-maintenance",
    "processing/integrity",
    "processing/uploads",
  ],
  "operations/samples": ["connections/imports", "processing/uploads", "recordings/trash"],
  "operations/storage-maintenance": ["processing/uploads"],
  "operations/system": [
    "connections/watched-folders",
    "connections/webhooks",
    "operations/backup",
    "operations/metrics",
    "operations/move",
    "operations/web",
    "people/accounts",
    "processing/intelligence",
    "processing/media",
    "processing/models",
    "processing/transcription",
  ],
  "operations/web": ["people/accounts", "recordings/recordings", "sharing/public-links"],
};

/** Top-level folders, and what they may import besides themselves. */
export const roots: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  contract: ["shared"],
  server: ["contract", "shared"],
  web: ["contract", "shared"],
};
