import { Command, InvalidArgumentError } from "commander";
import { purgeAny, restoreAny } from "../../server/recordings/trash/operator.ts";
import { findAllTrashed } from "../../server/recordings/trash/queries.ts";
import { counted } from "../../shared/counted.ts";
import { printTable } from "../support/print-table.ts";
import { toolLog, withDatabase } from "../support/with-database.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  readonly json?: boolean;
}

/** Most recordings that `parley trash list` prints. */
const maxListed = 1000;

function readId(text: string): string {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError("must be an ID, such as parley trash list prints");
  return text.toLowerCase();
}

/** `parley trash list`, `restore` and `delete` */
export function trashCommand(command: Command): Command {
  const list = new Command("list")
    .description(
      `list recordings in the trash, at most ${maxListed}: ID, when deleted, when permanently, title`,
    )
    .option("--workspace <id>", "only this workspace", readId)
    .option("--json", "print the result as a JSON array")
    .action(listTrash);
  const restore = new Command("restore")
    .description("restore a recording with its links; hooks are sent recording_added")
    .argument("<id>", "ID of the recording", readId)
    .option("--json", "print the result as a JSON object")
    .action(async (id: string, options: Options) => {
      await withDatabase((db) => restoreAny(db, id));
      if (options.json) process.stdout.write(`${JSON.stringify({ id })}\n`);
      else console.error(`restored ${id}`);
    });
  const remove = new Command("delete")
    .description("permanently delete a recording in the trash, with its files")
    .argument("<id>", "ID of the recording", readId)
    .option("--json", "print the receipt as a JSON object")
    .action(async (id: string, options: Options) => {
      const onError = (error: unknown) =>
        toolLog().error({ err: error }, "could not remove the recording's files; the server will");
      const receipt = await withStore((db, store) => purgeAny({ db, store, onError }, id));
      if (options.json) process.stdout.write(`${JSON.stringify(receipt)}\n`);
      else console.error(`permanently deleted ${id} with ${counted(receipt.removed.objects, "file")}`);
    });
  return command.addCommand(list).addCommand(restore).addCommand(remove);
}

async function listTrash({ workspace, json }: Options & { readonly workspace?: string }): Promise<void> {
  const rows = await withDatabase((db) => findAllTrashed(db.kysely, workspace ?? null, maxListed));
  if (json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0) console.error("the trash is empty");
  else
    printTable(
      rows.map((row) => [
        row.id,
        row.deleted_datetime.toISOString(),
        row.purge_datetime.toISOString(),
        row.title.replace(/\s+/g, " "),
      ]),
    );
}
