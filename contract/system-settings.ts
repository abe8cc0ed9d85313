import { z } from "zod";
import { Success, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { settingsTests } from "./settings-tests.ts";
import { TriedProvider } from "./sign-in-providers.ts";

const common = { tag: "System", gate: "every_version", permission: "admin" } as const;

/** Added to each description. */
const whoMay = "For admins of the operator's workspace; see `parley workspace operator`.";

const SystemSetting = z
  .strictObject({
    name: z.string().meta({ example: "PARLEY_SMTP_URL" }),
    section: z.string().meta({ example: "Mail" }),
    help: z.string(),
    type: z.string().meta({
      description:
        "What it takes: `duration`, `bytes`, `whole number from … to …`, `text`, or choices separated by ` | `.",
    }),
    default: z.string().nullable().meta({ description: "Null: none, or one that the help explains." }),
    value: z.string().nullable().meta({ description: "Null for secrets, and where there is none." }),
    is_secret: z.boolean(),
    is_set: z.boolean().meta({ description: "Whether it differs from the default or repeats it." }),
    source: z.enum(["default", "environment", "file", "app"]).meta({
      description: "Where the value comes from. `environment` and `file` count before the app.",
    }),
    changed_by: z.string().nullable().meta({
      description: "Email of the admin who last changed it here; null: nobody, a command, or a deleted user.",
    }),
    changed_datetime: Timestamp.nullable(),
  })
  .meta({ id: "SystemSetting" });

const SystemSettings = z.strictObject({ settings: z.array(SystemSetting) });

/** By name; null: back to the default. */
const Changes = z
  .record(
    z.string().max(100),
    z
      .union([z.string().max(10_000), z.number(), z.boolean()])
      .transform(String)
      .nullable(),
  )
  .refine((changes) => Object.keys(changes).length <= 100, "must have at most 100 settings")
  .meta({
    description: "Values as the environment takes them, by name; null: back to the default.",
    example: { PARLEY_SMTP_FROM: "Parley <parley@example.com>", PARLEY_SMTP_URL: null },
  });

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large", "forbidden"] as const;

export const getSettings = operation({
  ...common,
  id: "getSystemSettings",
  method: "GET",
  path: "/_/api/v1/system/settings",
  summary: "Get System Settings",
  description: `Returns every setting of the installation. Secrets are never returned, only whether they are set. ${whoMay}`,
  response: SystemSettings,
  errors: ["forbidden"],
});

export const updateSettings = operation({
  ...common,
  id: "updateSystemSettings",
  method: "PATCH",
  path: "/_/api/v1/system/settings",
  summary: "Update System Settings",
  description: `Changes settings, all or none. All processes follow within two seconds; work in flight ends with the old values. Refused with \`wrong_state\` for settings that the environment or PARLEY_SETTINGS_FILE sets. ${whoMay}`,
  body: z.strictObject({ settings: Changes }),
  response: SystemSettings,
  errors: [...bodyErrors, "wrong_state"],
});

export const testSettings = operation({
  ...common,
  id: "testSystemSettings",
  method: "POST",
  path: "/_/api/v1/system/settings/test",
  summary: "Test System Settings",
  description: `Tries settings before they are saved, as the work itself uses them: an email to the caller; a sound for the speech model; a short request to the language model; the sign-in provider, as far as is possible without a user; writing, reading and deleting a file among the backups; a connection by the proxy. Takes up to a minute. ${whoMay}`,
  body: z.strictObject({
    test: z.enum(settingsTests),
    settings: Changes.optional(),
    provider: TriedProvider.optional().meta({
      description: "The only sign-in provider to try. Left out: all.",
    }),
  }),
  response: z.strictObject({
    passed: z.boolean(),
    message: z.string().meta({ description: "What was tried, and if it failed the cause and what to do." }),
    took_ms: z.int().min(0),
  }),
  errors: [...bodyErrors, "wrong_state"],
});

export const startSignInTest = operation({
  ...common,
  id: "startSignInTest",
  method: "POST",
  path: "/_/api/v1/system/settings/test/sign_in",
  summary: "Start Sign-in Test",
  description: `Begins a whole sign-in at the provider with settings that are not saved yet. In the caller's browser, the URL leads to the provider and back to a page with the user's claims and what Parley would make of them. Nothing is changed. A sign-in that succeeds counts as a test that the provider has passed. ${whoMay}`,
  body: z.strictObject({
    settings: Changes.optional(),
    provider: TriedProvider.optional().meta({ description: "Left out: the first provider." }),
  }),
  response: z.strictObject({ url: z.string() }),
  errors: [...bodyErrors, "wrong_state"],
});

export const listSettingChanges = operation({
  ...common,
  id: "listSystemSettingChanges",
  method: "GET",
  path: "/_/api/v1/system/settings/changes",
  summary: "List System Setting Changes",
  description: `Returns the latest changes of settings, newest first. ${whoMay}`,
  response: z.strictObject({
    changes: z.array(
      z.strictObject({
        id: Uuid,
        names: z.array(z.string()),
        changed_by: z.string().nullable(),
        changed_datetime: Timestamp,
        can_undo: z.boolean().meta({
          description: "Whether it was neither undone nor followed by another change of these settings.",
        }),
      }),
    ),
  }),
  errors: ["forbidden"],
});

export const undoSettingChange = operation({
  ...common,
  id: "undoSystemSettingChange",
  method: "POST",
  path: "/_/api/v1/system/settings/changes/:change_id/undo",
  summary: "Undo System Setting Change",
  description: `Brings back what the settings were before a change, secrets included. ${whoMay}`,
  params: z.object({ change_id: Uuid }),
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state", "invalid_input"],
});
