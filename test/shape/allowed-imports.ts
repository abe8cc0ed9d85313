/**
 * Which folder of server/ may import which. Every folder is listed; one that is missing, an import that is not listed and a
 * listed import that no longer exists each fail a test. Tests and test support are exempt.
 */

/** Parts of server/platform, which know nothing of meetings, and the other parts that each may import. */
export const platform: Readonly<Record<string, readonly string[]>> = {
  "platform/auth": [],
  "platform/concurrency": [],
  "platform/config": ["platform/db", "platform/storage"],
  "platform/confinement": ["platform/db"],
  "platform/crypto": ["platform/db", "platform/storage"],
  "platform/db": ["platform/version"],
  "platform/event-loop": ["platform/telemetry"],
  "platform/events": ["platform/db"],
  "platform/http": [
    "platform/auth",
    "platform/concurrency",
    "platform/config",
    "platform/crypto",
    "platform/db",
    "platform/pages",
    "platform/storage",
    "platform/version",
  ],
  "platform/jobs": ["platform/concurrency", "platform/db", "platform/telemetry"],
  "platform/log": [],
  "platform/model-server": [],
  "platform/outbound": [],
  "platform/pages": [],
  "platform/storage": ["platform/concurrency"],
  "platform/version": [],
  "platform/telemetry": [],
};

/** Features and the other features that each may import. Every feature may import all of server/platform. */
export const features: Readonly<Record<string, readonly string[]>> = {
  access: [],
  accounts: ["access", "audit", "directory", "webhooks"],
  audit: [],
  backup: ["accounts", "audit", "storage-maintenance"],
  directory: ["access"],
  highlights: ["access", "audit", "public-link-records", "recordings"],
  imports: ["recordings", "uploads"],
  integrity: [],
  intelligence: ["access", "recordings"],
  mcp: [],
  media: [],
  metrics: [],
  oauth: ["accounts", "audit"],
  participants: ["recordings", "transcripts"],
  "public-link-records": ["audit", "recordings"],
  "public-links": [
    "access",
    "accounts",
    "audit",
    "highlights",
    "integrity",
    "media",
    "public-link-records",
    "recordings",
    "stories",
  ],
  recordings: ["access", "audit", "directory"],
  retention: [
    "access",
    "accounts",
    "audit",
    "intelligence",
    "recordings",
    "transcripts",
    "uploads",
    "webhooks",
  ],
  search: [],
  "storage-maintenance": ["uploads"],
  stories: ["access", "audit", "public-link-records", "recordings"],
  transcription: ["media", "recordings", "transcripts"],
  transcripts: ["audit", "recordings"],
  uploads: [
    "access",
    "audit",
    "directory",
    "integrity",
    "intelligence",
    "media",
    "recordings",
    "transcription",
  ],
  web: ["accounts", "public-links", "recordings"],
  webhooks: ["access", "audit", "highlights", "recordings", "stories", "uploads"],
};

/** Top-level folders, and what they may import besides themselves. */
export const roots: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  server: ["contract"],
  web: ["contract"],
};
