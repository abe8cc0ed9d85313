/** The embedded PostgreSQL can't be used. The message is one line, fit for the terminal. */
export class EmbeddedDatabaseError extends Error {}

/** A second server was started on a data folder. The message is one line, fit for the terminal. */
export class DataFolderInUseError extends EmbeddedDatabaseError {
  constructor(dataDir: string, postmasterPid: number) {
    super(
      `another Parley server is already using the data folder ${dataDir} (PostgreSQL process ${postmasterPid}); stop it first`,
    );
    this.name = "DataFolderInUseError";
  }
}

/** The errno code of a Node error (`ENOENT`…) or the SQLSTATE of a PostgreSQL one; "" when there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
