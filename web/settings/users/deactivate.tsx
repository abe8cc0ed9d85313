import { Trans, useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { deactivate, type User, userAccessQuery } from "../../api/settings/users.ts";
import { Confirm } from "../../common/forms/confirm.tsx";

/** Asks for confirmation, with what will be revoked. */
export function Deactivate(props: { user: User; opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { user, opened, onClose } = props;
  const access = useQuery({ ...userAccessQuery(user.id), enabled: opened }).data;
  const ends =
    access === undefined
      ? []
      : [
          count(access.sessions, "session"),
          count(access.tokens, t`access token`),
          count(access.apps, t`authorized app`),
        ].filter((text) => text !== null);
  const hooks = access === undefined ? 0 : access.personal_hooks + access.workspace_hooks;
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={t`Deactivate ${user.name}?`}
      label={t`Deactivate`}
      run={() => deactivate(user.id)}
      done={t`${user.name} deactivated.`}
      refresh={[["users"], ["directory"], ["hooks"], ["tokens"]]}
    >
      <Stack gap="xs">
        <span>
          This ends all their sessions and revokes their access tokens and apps, including workspace tokens
          they issued
          {ends.length === 0 ? "." : `: ${ends.join(", ")}.`} Recordings stay.
        </span>
        {access === undefined || hooks === 0 ? null : (
          <span>
            {count(hooks, "webhook")} will be disabled
            {access.workspace_hooks === 0
              ? "."
              : t`, ${access.workspace_hooks === hooks ? "all" : access.workspace_hooks} of the workspace. Any admin can enable a workspace webhook again under Settings > Webhooks, which then belongs to that admin.`}
          </span>
        )}
        {access === undefined || access.unfinished_uploads === 0 ? null : (
          <span>{count(access.unfinished_uploads, t`unfinished upload`)} will fail.</span>
        )}
        <span>
          <Trans>You can reactivate the account later. Revoked access is not restored.</Trans>
        </span>
      </Stack>
    </Confirm>
  );
}

/** "2 sessions"; null for none. */
function count(number: number, noun: string): string | null {
  return number === 0 ? null : `${number} ${noun}${number === 1 ? "" : "s"}`;
}
