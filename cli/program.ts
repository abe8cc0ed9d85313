import { Command } from "commander";
import { AccountError } from "../server/accounts/service.ts";
import { BackupDamagedError, BackupError } from "../server/backup/errors.ts";
import { ExportError } from "../server/exports/errors.ts";
import { ImportError } from "../server/imports/move/errors.ts";
import { MovedError, MoveError } from "../server/move/errors.ts";
import { ConfigError } from "../server/platform/config/config.ts";
import { WrongSecretError } from "../server/platform/crypto/secret.ts";
import { DataFolderInUseError } from "../server/platform/db/embedded/index.ts";
import {
  MigrationFailedError,
  SchemaOutdatedError,
  UnfitDatabaseError,
} from "../server/platform/db/migrate.ts";
import { DatabaseTooNewError } from "../server/platform/db/oldest-version.ts";
import { ProblemError } from "../server/platform/http/errors/problem.ts";
import { version } from "../server/platform/version.ts";
import { WrongStoreError } from "../server/storage-maintenance/owner-marker.ts";
import { ModelError } from "../server/transcription/models/store.ts";
import { AmbiguousError, AuditBrokenError, NotConfirmedError } from "./support/errors.ts";

/** The commands in the order of the help. Only the one that runs is loaded, which takes a third less time. */
const commands = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  migrate: async () => (await import("./migrate.ts")).migrateCommand(),
  status: async () => (await import("./status.ts")).statusCommand(),
  jobs: async () => (await import("./jobs.ts")).jobsCommand(),
  watched: async () => (await import("./watched.ts")).watchedCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
  workspace: async () => (await import("./workspace.ts")).workspaceCommand(),
  domain: async () => (await import("./domain.ts")).domainCommand(),
  user: async () => (await import("./user.ts")).userCommand(),
  team: async () => (await import("./team.ts")).teamCommand(),
  token: async () => (await import("./token.ts")).tokenCommand(),
  "oauth-client": async () => (await import("./oauth-client.ts")).oauthClientCommand(),
  clock: async () => (await import("./clock.ts")).clockCommand(),
  files: async () => (await import("./files.ts")).filesCommand(),
  storage: async () => (await import("./storage.ts")).storageCommand(),
  database: async () => (await import("./database.ts")).databaseCommand(),
  backup: async () => (await import("./backup.ts")).backupCommand(),
  upgrade: async () => (await import("./upgrade.ts")).upgradeCommand(),
  restore: async () => (await import("./restore.ts")).restoreCommand(),
  secret: async () => (await import("./secret.ts")).secretCommand(),
  models: async () => (await import("./models.ts")).modelsCommand(),
  trash: async () => (await import("./trash.ts")).trashCommand(),
  audit: async () => (await import("./audit.ts")).auditCommand(),
  export: async () => (await import("./export.ts")).exportCommand(),
  import: async () => (await import("./import.ts")).importCommand(),
  upload: async () => (await import("./upload/upload.ts")).uploadCommand(),
  demo: async () => (await import("./demo.ts")).demoCommand(),
} as const satisfies Record<string, () => Promise<Command>>;

/** Runs a command. Results go to standard output, messages to standard error. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command("parley")
    .description("Parley, the self-hosted meeting recording service.")
    .version(version)
    // Subcommands may have options of the same name as their parent.
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for usage)");
  const requested = Object.entries(commands).filter(([name]) => name === argv[2]);
  for (const [, load] of requested.length > 0 ? requested : Object.entries(commands))
    program.addCommand(await load());
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error(`parley: ${describe(error as Error)}`);
    process.exitCode = 1;
  }
}

/** One line for errors that the user can fix; other errors with their stack, for a bug report. */
function describe(
  error: Error & { hostname?: string; code?: string; syscall?: string; port?: number; address?: string },
): string {
  if (error instanceof ProblemError) return error.message;
  const isExpected = [
    AccountError,
    AmbiguousError,
    AuditBrokenError,
    BackupDamagedError,
    BackupError,
    ConfigError,
    DataFolderInUseError,
    DatabaseTooNewError,
    ExportError,
    ImportError,
    MigrationFailedError,
    ModelError,
    MoveError,
    MovedError,
    NotConfirmedError,
    SchemaOutdatedError,
    UnfitDatabaseError,
    WrongSecretError,
    WrongStoreError,
  ].some((kind) => error instanceof kind);
  if (isExpected) return error.message;
  if (error.code === "EADDRINUSE")
    return `port ${error.port} on ${error.address} is in use by another program; stop it or set a different PARLEY_PORT`;
  if (error.code === "EACCES" && error.syscall === "listen")
    return `this system user is not allowed to listen on port ${error.port}; set PARLEY_PORT to a port above 1023`;
  if (error.code === "EADDRNOTAVAIL")
    return `PARLEY_HOST ${error.address} is not an IP address of this machine`;
  if (error.syscall === "getaddrinfo" && error.hostname === process.env.PARLEY_HOST)
    return `PARLEY_HOST ${error.hostname} can't be resolved`;
  if (error.code === "ECONNREFUSED" || error.code === "ENOTFOUND")
    return `the database at PARLEY_DATABASE_URL can't be reached (${error.message})`;
  if (error.code === "ERR_INVALID_URL" || error.code === "ERR_SOCKET_BAD_PORT")
    return "PARLEY_DATABASE_URL is not a valid PostgreSQL connection string";
  if (/^(28|3D)/.test(error.code ?? ""))
    return `the database at PARLEY_DATABASE_URL refused the connection: ${error.message}`;
  return error.stack ?? error.message;
}
