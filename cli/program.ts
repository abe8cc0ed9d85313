import { Command } from "commander";
import { version } from "../server/platform/version.ts";

/** A command in the overview. What it takes and does is loaded when it is the one that runs. */
interface ListedCommand {
  readonly summary: string;
  /** Adds arguments, options, subcommands and what they do. */
  readonly define: (command: Command) => Promise<Command>;
}

/** The commands in the order of the help. */
const commands: Readonly<Record<string, ListedCommand>> = {
  serve: {
    summary: "run the server",
    define: async (command) => (await import("./serve.ts")).serveCommand(command),
  },
  migrate: {
    summary: "migrate the database to this version (the server does so at start-up)",
    define: async (command) => (await import("./system/migrate.ts")).migrateCommand(command),
  },
  settings: {
    summary: "list, change, test, export and import the settings of the installation",
    define: async (command) => (await import("./system/settings.ts")).settingsCommand(command),
  },
  status: {
    summary: "show the state of the installation; exit code 1 if something is failing",
    define: async (command) => (await import("./system/status.ts")).statusCommand(command),
  },
  jobs: {
    summary: "list, retry and discard failed jobs",
    define: async (command) => (await import("./system/jobs.ts")).jobsCommand(command),
  },
  watched: {
    summary: "list watched folders, and list and retry their failed files",
    define: async (command) => (await import("./system/watched.ts")).watchedCommand(command),
  },
  doctor: {
    summary:
      "check settings, folders, disk, ports, clock, database, file store, mail and models, also while the server is down",
    define: async (command) => (await import("./system/doctor.ts")).doctorCommand(command),
  },
  workspace: {
    summary: "create and list workspaces, and name the operator's",
    define: async (command) => (await import("./people/workspace.ts")).workspaceCommand(command),
  },
  domain: {
    summary: "claim, release and list email domains",
    define: async (command) => (await import("./people/domain.ts")).domainCommand(command),
  },
  user: {
    summary: "create, invite, list and change users",
    define: async (command) => (await import("./people/user.ts")).userCommand(command),
  },
  security: {
    summary: "show and remove the security rules of a workspace",
    define: async (command) => (await import("./people/security.ts")).securityCommand(command),
  },
  team: {
    summary: "create teams",
    define: async (command) => (await import("./people/team.ts")).teamCommand(command),
  },
  token: {
    summary: "create, list and revoke access tokens",
    define: async (command) => (await import("./people/token.ts")).tokenCommand(command),
  },
  scim: {
    summary: "create, list and revoke the tokens with which identity providers manage users",
    define: async (command) => (await import("./people/scim.ts")).scimCommand(command),
  },
  "oauth-client": {
    summary: "register, list and delete OAuth apps",
    define: async (command) => (await import("./people/oauth-client.ts")).oauthClientCommand(command),
  },
  "oauth-grant": {
    summary: "list and configure the apps that users have authorized",
    define: async (command) => (await import("./people/oauth-grant.ts")).oauthGrantCommand(command),
  },
  clock: {
    summary: "confirm the clock after a jump",
    define: async (command) => (await import("./system/clock.ts")).clockCommand(command),
  },
  files: {
    summary: "adopt and verify the file store",
    define: async (command) => (await import("./data/files.ts")).filesCommand(command),
  },
  storage: {
    summary: "move files to another store",
    define: async (command) => (await import("./data/storage.ts")).storageCommand(command),
  },
  database: {
    summary: "move the database to another server",
    define: async (command) => (await import("./data/database.ts")).databaseCommand(command),
  },
  backup: {
    summary: "back up the database, all files and the secret, while the server runs",
    define: async (command) => (await import("./data/backup.ts")).backupCommand(command),
  },
  upgrade: {
    summary: "undo an upgrade",
    define: async (command) => (await import("./system/upgrade.ts")).upgradeCommand(command),
  },
  restore: {
    summary: "restore a backup into the configured database and file store, which must be empty",
    define: async (command) => (await import("./data/restore.ts")).restoreCommand(command),
  },
  secrets: {
    summary: "rotate the secret for links and encrypted data, or accept another one after losing it",
    define: async (command) => (await import("./system/secrets.ts")).secretsCommand(command.alias("secret")),
  },
  models: {
    summary: "install and verify the models of the built-in speech recognition and language model",
    define: async (command) => (await import("./system/models.ts")).modelsCommand(command),
  },
  trash: {
    summary: "list, restore and permanently delete recordings in the trash",
    define: async (command) => (await import("./data/trash.ts")).trashCommand(command),
  },
  audit: {
    summary: "verify, export and accept the audit log",
    define: async (command) => (await import("./system/audit.ts")).auditCommand(command),
  },
  export: {
    summary:
      "write each recording of a workspace to a folder with its media, transcript and metadata; run again to resume or update",
    define: async (command) => (await import("./data/export.ts")).exportCommand(command),
  },
  import: {
    summary:
      "import recordings from an export, another service or its files on disk; run again to resume or to import what is new",
    define: async (command) => (await import("./data/import.ts")).importCommand(command),
  },
  upload: {
    summary:
      "upload recordings to a Parley server, which converts them if needed; prints the ID of each upload",
    define: async (command) => (await import("./upload/upload.ts")).uploadCommand(command),
  },
  demo: {
    summary:
      "create a sample workspace with users, teams and recorded meetings (takes a minute); prints its ID",
    define: async (command) => (await import("./demo.ts")).demoCommand(command),
  },
};

/** Commands that use a server by its API, and the files of the user who runs them. */
const clients: ReadonlySet<string> = new Set(["upload"]);

/** A misspelled setting has no effect, which nothing else shows. */
async function warnAboutUnknownSettings(): Promise<void> {
  const { unknownSettings, withNearest } = await import("../server/platform/config/config.ts");
  for (const name of unknownSettings(process.env))
    console.error(
      `parley: ${withNearest(name)} is not a setting of Parley and has no effect; correct or remove it`,
    );
}

/** The command that a command line runs or asks help for. */
function requestedCommand(argv: readonly string[]): string | null {
  const [first, second] = argv.slice(2).filter((argument) => !argument.startsWith("-"));
  const given = first === "help" ? second : first;
  const name = given === "secret" ? "secrets" : given;
  return name !== undefined && Object.hasOwn(commands, name) ? name : null;
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
  const requested = requestedCommand(argv);
  for (const [name, { summary, define }] of Object.entries(commands)) {
    const command = new Command(name).description(summary);
    program.addCommand(name === requested ? await define(command) : command);
  }
  try {
    if (requested !== null && !clients.has(requested) && process.getuid?.() === 0)
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
