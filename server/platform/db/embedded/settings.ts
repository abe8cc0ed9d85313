import { SYSTEM_DIR } from "./location.ts";
import type { Tuning } from "./types.ts";

export const PORT = 5432;
/** Owns the cluster; used to manage it, never by the program itself. */
export const SUPERUSER = "parley";
/** The ordinary role that the program connects as; owns the database and what is in it. */
export const APP_ROLE = "parley_app";
export const DATABASE = "parley";

export const productionTuning: Tuning = { settings: {}, systemDir: SYSTEM_DIR, readyTimeoutMs: 60_000 };

/** For a cluster that need not survive a crash of the machine. */
export const throwawayTuning: Tuning = {
  ...productionTuning,
  settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
};

/**
 * Parley's defaults for a small machine, included at the head of postgresql.conf: what an operator writes
 * below, or sets with `alter system`, wins.
 */
export const PARLEY_CONF = `# Parley's defaults. Rewritten at every start: put changes into postgresql.conf instead.
shared_buffers = 128MB
max_connections = 100
# One machine, mostly short queries: compiling and parallel workers cost more than they save.
jit = off
max_parallel_workers_per_gather = 0
random_page_cost = 1.1
effective_cache_size = 1GB
max_wal_size = 512MB
min_wal_size = 64MB
max_wal_senders = 2
max_replication_slots = 2
timezone = 'UTC'
# One file per weekday, emptied when its day comes round again: a week of logs, never more.
logging_collector = on
log_destination = 'stderr'
log_directory = 'log'
log_filename = 'postgresql-%a.log'
log_rotation_age = 1d
log_rotation_size = 0
log_truncate_on_rotation = on
log_file_mode = 0600
log_timezone = 'UTC'
log_min_messages = warning
log_checkpoints = off
log_autovacuum_min_duration = -1
log_line_prefix = '%m [%p] '
`;

/** initdb's own postgresql.conf under our include, without the lines that would undo it. */
export function postgresqlConf(initial: string): string {
  const ours = PARLEY_CONF.match(/^\w+(?= =)/gm) ?? [];
  const kept = initial.split("\n").filter((line) => !ours.some((name) => line.startsWith(`${name} =`)));
  return `include_if_exists = 'parley.conf'\n\n${kept.join("\n")}`;
}

/** The command line: what must hold whatever the files say, and a test's settings. */
export function postgresArguments(
  clusterDir: string,
  socketDir: string,
  settings: Tuning["settings"],
): string[] {
  const fixed = {
    listen_addresses: "",
    port: String(PORT),
    // A list of names: quoting keeps commas and spaces of the path in one of them.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
    ...settings,
  };
  return ["-D", clusterDir, ...Object.entries(fixed).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}
