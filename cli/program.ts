import { Command } from "commander";
import { version } from "../server/platform/version.ts";

/** The commands in the order of the help. Only the one that runs is loaded, which takes a third less time. */
const commands = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  migrate: async () => (await import("./system/migrate.ts")).migrateCommand(),
  status: async () => (await import("./system/status.ts")).statusCommand(),
  jobs: async () => (await import("./system/jobs.ts")).jobsCommand(),
  watched: async () => (await import("./system/watched.ts")).watchedCommand(),
  doctor: async () => (await import("./system/doctor.ts")).doctorCommand(),
  workspace: async () => (await import("./people/workspace.ts")).workspaceCommand(),
  domain: async () => (await import("./people/domain.ts")).domainCommand(),
  user: async () => (await import("./people/user.ts")).userCommand(),
  team: async () => (await import("./people/team.ts")).teamCommand(),
  token: async () => (await import("./people/token.ts")).tokenCommand(),
  "oauth-client": async () => (await import("./people/oauth-client.ts")).oauthClientCommand(),
  "oauth-grant": async () => (await import("./people/oauth-grant.ts")).oauthGrantCommand(),
  clock: async () => (await import("./system/clock.ts")).clockCommand(),
  files: async () => (await import("./data/files.ts")).filesCommand(),
  storage: async () => (await import("./data/storage.ts")).storageCommand(),
  database: async () => (await import("./data/database.ts")).databaseCommand(),
  backup: async () => (await import("./data/backup.ts")).backupCommand(),
  upgrade: async () => (await import("./system/upgrade.ts")).upgradeCommand(),
  restore: async () => (await import("./data/restore.ts")).restoreCommand(),
  secret: async () => (await import("./system/secret.ts")).secretCommand(),
  models: async () => (await import("./system/models.ts")).modelsCommand(),
  trash: async () => (await import("./data/trash.ts")).trashCommand(),
  audit: async () => (await import("./system/audit.ts")).auditCommand(),
  export: async () => (await import("./data/export.ts")).exportCommand(),
  import: async () => (await import("./data/import.ts")).importCommand(),
  upload: async () => (await import("./upload/upload.ts")).uploadCommand(),
  demo: async () => (await import("./demo.ts")).demoCommand(),
} as const satisfies Record<string, () => Promise<Command>>;

/** Commands that use a server by its API, and the files of the user who runs them. */
const clients: ReadonlySet<string | undefined> = new Set(["upload"]);

/** A misspelled setting has no effect, which nothing else shows. */
async function warnAboutUnknownSettings(): Promise<void> {
  const { unknownSettings } = await import("../server/platform/config/config.ts");
  for (const name of unknownSettings(process.env))
    console.error(`parley: ${name} is not a setting of Parley and has no effect; correct or remove it`);
}

/** Runs a command. Results go to standard output, messages to standard error. */
export async function run(argv: readonly string[]): Promise<void> {
  // A reader such as `head` may read only a part of the output; the command finishes its work, such as a backup.
  const closed = new Set<unknown>();
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      closed.add(error);
    });
  const program = new Command("parley")
    .description("Parley, the self-hosted meeting recording service.")
    .version(version)
    // Subcommands may have options of the same name as their parent.
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for usage)")
    // Doctor lists them among its results.
    .hook("preAction", (_program, command) =>
      command.name() === "doctor" ? undefined : warnAboutUnknownSettings(),
    );
  const requested = Object.entries(commands).filter(([name]) => name === argv[2]);
  for (const [, load] of requested.length > 0 ? requested : Object.entries(commands))
    program.addCommand(await load());
  try {
    if (requested.length > 0 && !clients.has(argv[2]) && process.getuid?.() === 0)
      (await import("./support/data-folder-owner.ts")).becomeDataFolderOwner();
    await program.parseAsync(argv);
  } catch (error) {
    if (closed.has(error)) return;
    // Loaded here, because the errors' modules take longer to load than most commands take.
    const { describe } = await import("./support/describe-error.ts");
    console.error(`parley: ${describe(error as Error)}`);
    process.exitCode = 1;
  }
}
