import { ExportError } from "../../server/connections/exports/errors.ts";
import { ImportError } from "../../server/connections/imports/sources/errors.ts";
import { BackupDamagedError, BackupError } from "../../server/operations/backup/errors.ts";
import { MovedError, MoveError } from "../../server/operations/move/errors.ts";
import { WrongStoreError } from "../../server/operations/storage-maintenance/owner-marker.ts";
import { RotationError } from "../../server/operations/system/secrets/begin.ts";
import { AccountError } from "../../server/people/accounts/service.ts";
import { ConfigError } from "../../server/platform/config/config.ts";
import { WrongSecretError } from "../../server/platform/crypto/secret.ts";
import { EmbeddedDatabaseError } from "../../server/platform/db/embedded/index.ts";
import {
  MigrationFailedError,
  SchemaOutdatedError,
  UnfitDatabaseError,
} from "../../server/platform/db/migrate.ts";
import { DatabaseTooNewError } from "../../server/platform/db/oldest-version.ts";
import { ProblemError } from "../../server/platform/http/errors/problem.ts";
import { StoreError } from "../../server/platform/storage/store.ts";
import { userName } from "../../server/platform/user-name.ts";
import { ModelError } from "../../server/processing/models/store.ts";
import { AmbiguousError, AuditBrokenError, NotConfirmedError } from "./errors.ts";

interface DescribedError extends Error {
  readonly hostname?: string;
  readonly code?: string;
  readonly syscall?: string;
  readonly port?: number;
  readonly address?: string;
  readonly path?: string;
}

/** How the system says that a file or folder can't be used. */
const denied = /(?:EACCES|EPERM): [\w ]+, \w+ '([^']+)'/;

/** One line for errors that the user can fix; other errors with their stack, for a bug report. */
export function describe(error: DescribedError): string {
  const [text, path] = denied.exec(error.message) ?? [];
  if (text === undefined) return describeOther(error);
  const user = userName();
  return `${error.message}; the user ${user}, which runs this command, needs access: chown -R ${user} ${path} (create it first if it is missing)`;
}

function describeOther(error: DescribedError): string {
  if (error instanceof ProblemError) return error.message;
  const isExpected = [
    AccountError,
    AmbiguousError,
    AuditBrokenError,
    BackupDamagedError,
    BackupError,
    ConfigError,
    DatabaseTooNewError,
    EmbeddedDatabaseError,
    ExportError,
    ImportError,
    MigrationFailedError,
    ModelError,
    MoveError,
    MovedError,
    NotConfirmedError,
    RotationError,
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
  if (error instanceof StoreError)
    return `${error.message}. ${storeRemedy((error as { code?: string }).code)}`;
  const fileRemedy = error.path === undefined ? undefined : fileRemedies[error.code ?? ""];
  if (fileRemedy !== undefined) return `${error.message}; ${fileRemedy}`;
  if (error.code === "ECONNREFUSED" || error.code === "ENOTFOUND")
    return `the database at PARLEY_DATABASE_URL can't be reached (${error.message})`;
  if (error.code === "ERR_INVALID_URL" || error.code === "ERR_SOCKET_BAD_PORT")
    return "PARLEY_DATABASE_URL is not a valid PostgreSQL connection string";
  if (/^(28|3D)/.test(error.code ?? ""))
    return `the database at PARLEY_DATABASE_URL refused the connection: ${error.message}`;
  return error.stack ?? error.message;
}

/** What to do about an error of the system with a file, by its code. */
const fileRemedies: Readonly<Record<string, string>> = {
  EROFS: "mount its file system so that it can be written to",
  ENOSPC: "free some space on its volume",
};

function storeRemedy(code: string | undefined): string {
  return code === "NoSuchBucket"
    ? "Create the bucket, or correct its name or PARLEY_S3_ENDPOINT"
    : "Check the bucket, PARLEY_S3_ENDPOINT, PARLEY_S3_REGION and the credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)";
}
