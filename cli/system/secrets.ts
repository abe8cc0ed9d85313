import { Command } from "commander";
import { jobKinds } from "../../server/jobs.ts";
import { dropSecrets, rotateSecret, withSecretsLock } from "../../server/operations/system/secrets/begin.ts";
import { readSecretStatus, type SecretStatus } from "../../server/operations/system/secrets/status.ts";
import { createEncryptor } from "../../server/platform/crypto/encryptor.ts";
import { acceptSecret, openSecrets } from "../../server/platform/crypto/secret.ts";
import { openJobQueue } from "../../server/platform/jobs/queue.ts";
import { counted } from "../../shared/counted.ts";
import { NotConfirmedError } from "../support/errors.ts";
import { printValue } from "../support/with-database.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  json?: boolean;
}

/** `parley secrets status`, `rotate`, `drop` and `accept` */
export function secretsCommand(command: Command): Command {
  const status = new Command("status")
    .description(
      "show whether stored values are encrypted with the first secret, and what a rotation waits for",
    )
    .option("--json", "print the result as a JSON object")
    .action(showStatus);
  const rotate = new Command("rotate")
    .description(
      "encrypt stored values with a new secret: a generated one, or the one that is first in PARLEY_SECRET",
    )
    .option("--json", "print the id of the new secret as a JSON object")
    .action(async (options: Options) => {
      const secretId = await withStore((db, store, config) =>
        rotateSecret({ db, store, config, jobs: openJobQueue(jobKinds) }),
      );
      printValue(secretId, { secret_id: secretId }, options);
      console.error(
        "new values are encrypted with this secret; the server encrypts stored ones with it in the background. `parley secrets status` shows the progress",
      );
    });
  const drop = new Command("drop")
    .description("remove previous generated secrets that no stored value needs; their links stop working")
    .action(async () => {
      const dropped = await withStore((db, store, config) => dropSecrets({ db, store, config }));
      console.error(dropped === 0 ? "there is no previous secret" : `removed ${counted(dropped, "secret")}`);
    });
  const accept = new Command("accept")
    .description("use the current secret with this database after losing the previous one")
    .option("--yes", "confirm that encrypted data becomes unreadable")
    .action(async (options: { yes?: boolean }) => {
      if (!options.yes)
        throw new NotConfirmedError(
          "with another secret, all existing links stop working, and encrypted data becomes unreadable: webhook signing secrets (rotate them), queued emails and unfinished personal-data erasures. If the previous secret is lost, run this again with --yes",
        );
      await withStore(async (db, store, config) => {
        await withSecretsLock(db, () => acceptSecret(config.secret, store, db));
        console.error("this database now uses the current secret");
      });
    });
  for (const one of [status, rotate, drop, accept]) command.addCommand(one);
  return command;
}

async function showStatus({ json }: Options): Promise<void> {
  const status = await withStore(async (db, store, config) => {
    const secrets = await openSecrets(config.secret, store, db, { isReader: true });
    const isGenerated = config.secret === null;
    return { ...(await readSecretStatus(db, secrets, createEncryptor(secrets))), is_generated: isGenerated };
  });
  if (json) process.stdout.write(`${JSON.stringify(status)}\n`);
  else for (const line of linesOf(status)) process.stdout.write(`${line}\n`);
}

function linesOf(status: SecretStatus & { readonly is_generated: boolean }): string[] {
  const { state, secret_ids, values, remaining, unreadable, processes, is_generated } = status;
  const [first = "", ...others] = secret_ids;
  const lines = [
    others.length === 0 ? `secret ${first}` : `secret ${first} encrypts; previous: ${others.join(", ")}`,
  ];
  if (state === "rotating")
    lines.push(
      `rotating: ${remaining} of ${counted(values, "stored value")} still encrypted with another secret; keep all secrets until this ends`,
    );
  if (state === "incomplete")
    lines.push(
      `${remaining} of ${counted(values, "stored value")} still encrypted with another secret: keep all secrets, and run \`parley secrets rotate\` to encrypt them again`,
    );
  if (state === "removable")
    lines.push(
      `no stored value needs the previous secrets: ${is_generated ? "remove them with `parley secrets drop`" : "remove them from PARLEY_SECRET"}. Links in emails sent before the rotation, such as to unsubscribe, then stop working`,
    );
  if (processes.length > 0)
    lines.push(`processes that don't encrypt with the first secret: ${processes.join("; ")}`);
  for (const [place, count] of Object.entries(unreadable))
    lines.push(`${place}: ${counted(count, "value")} can't be decrypted with any given secret`);
  return lines;
}
