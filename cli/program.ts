import { readFileSync } from "node:fs";
import { Command } from "commander";
import { AccountError } from "../server/accounts/service.ts";
import { ConfigError } from "../server/config.ts";
import { DataFolderInUseError } from "../server/db/embedded/index.ts";
import { DatabaseTooNewError, UnfitDatabaseError } from "../server/db/migrate.ts";
import { AuditBrokenError, auditCommand } from "./audit.ts";
import { demoCommand } from "./demo.ts";
import { filesCommand, NotAgreedError } from "./files.ts";
import { migrateCommand } from "./migrate.ts";
import { serveCommand } from "./serve.ts";
import { teamCommand } from "./team.ts";
import { tokenCommand } from "./token.ts";
import { uploadCommand } from "./upload.ts";
import { userCommand } from "./user.ts";
import { workspaceCommand } from "./workspace.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The command line: every command by name. The value goes to standard output, words to standard error. */
export async function run(argv: readonly string[]): Promise<void> {
  const program = new Command("parley")
    .description("Parley, the self-hosted meeting recording service.")
    .version(version)
    .showHelpAfterError("(add --help for what this command takes)");
  for (const command of [
    serveCommand(),
    migrateCommand(),
    workspaceCommand(),
    userCommand(),
    teamCommand(),
    tokenCommand(),
    filesCommand(),
    auditCommand(),
    uploadCommand(),
    demoCommand(),
  ])
    program.addCommand(command);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    console.error(`parley: ${describe(error as Error)}`);
    process.exitCode = 1;
  }
}

/** What a person can act on is one line; anything else comes with its stack, for a bug report. */
function describe(
  error: Error & { hostname?: string; code?: string; syscall?: string; port?: number; address?: string },
): string {
  const isExpected = [
    AccountError,
    AuditBrokenError,
    ConfigError,
    DataFolderInUseError,
    DatabaseTooNewError,
    NotAgreedError,
    UnfitDatabaseError,
  ].some((kind) => error instanceof kind);
  if (isExpected) return error.message;
  if (error.code === "EADDRINUSE")
    return `port ${error.port} on ${error.address} is taken by another program; choose another with PARLEY_PORT`;
  if (error.code === "EACCES" && error.syscall === "listen")
    return `port ${error.port} may not be used by this user`;
  if (error.code === "EADDRNOTAVAIL") return `PARLEY_HOST ${error.address} is no address of this machine`;
  if (error.syscall === "getaddrinfo" && error.hostname === process.env.PARLEY_HOST)
    return `PARLEY_HOST ${error.hostname} is no known host`;
  if (error.code === "ECONNREFUSED" || error.code === "ENOTFOUND")
    return `the database at PARLEY_DATABASE_URL can't be reached (${error.message})`;
  if (error.code === "ERR_INVALID_URL" || error.code === "ERR_SOCKET_BAD_PORT")
    return "wrong setting: PARLEY_DATABASE_URL is no connection string that PostgreSQL knows";
  if (/^(28|3D)/.test(error.code ?? ""))
    return `the database at PARLEY_DATABASE_URL refuses us: ${error.message}`;
  return error.stack ?? error.message;
}
