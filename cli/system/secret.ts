import { Command } from "commander";
import { acceptSecret } from "../../server/platform/crypto/secret.ts";
import { NotConfirmedError } from "../support/errors.ts";
import { withStore } from "../support/with-store.ts";

export function secretCommand(command: Command): Command {
  const accept = new Command("accept")
    .description("use the current secret with this database after losing the previous one")
    .option("--yes", "confirm that encrypted data becomes unreadable")
    .action(async (options: { yes?: boolean }) => {
      if (!options.yes)
        throw new NotConfirmedError(
          "with another secret, all existing links stop working, and encrypted data becomes unreadable: webhook signing secrets (rotate them), queued emails and unfinished personal-data erasures. If the previous secret is lost, run this again with --yes",
        );
      await withStore(async (db, store, config) => {
        await acceptSecret(config.secret, store, db);
        console.error("this database now uses the current secret");
      });
    });
  return command.addCommand(accept);
}
