import { Command } from "commander";
import { confirmClock, readClockState } from "../../server/platform/jobs/clock-guard.ts";
import { withDatabase } from "../support/with-database.ts";

export function clockCommand(command: Command): Command {
  const confirm = new Command("confirm")
    .description("trust the clock after a jump, so that deletion by age continues")
    .action(async () => {
      await withDatabase(async (db) => {
        const { jump } = await readClockState(db);
        await confirmClock(db);
        console.error(
          jump === null
            ? "the clock is already trusted"
            : `the jump from ${jump.from.toISOString()} to ${jump.to.toISOString()} is confirmed; deletion by age continues within a minute`,
        );
      });
    });
  return command.addCommand(confirm);
}
