import { plural } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { deactivate, type User, userAccessQuery } from "../../api/settings/users.ts";
import { namesInSentence } from "../../common/format/names.ts";
import { Confirm } from "../../common/forms/confirm.tsx";

/** Asks for confirmation, with what will be revoked. */
export function Deactivate(props: { user: User; opened: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { user, opened, onClose } = props;
  const { name } = user;
  const access = useQuery({ ...userAccessQuery(user.id), enabled: opened }).data;
  const ends =
    access === undefined
      ? []
      : [
          access.sessions > 0 && plural(access.sessions, { one: "# session", other: "# sessions" }),
          access.tokens > 0 && plural(access.tokens, { one: "# access token", other: "# access tokens" }),
          access.apps > 0 && plural(access.apps, { one: "# authorized app", other: "# authorized apps" }),
        ].filter((text) => text !== false);
  return (
    <Confirm
      opened={opened}
      onClose={onClose}
      title={t`Deactivate ${name}?`}
      label={t`Deactivate`}
      run={() => deactivate(user.id)}
      done={t`${name} deactivated.`}
      refresh={[["users"], ["directory"], ["hooks"], ["tokens"]]}
    >
      <Stack gap="xs">
        <span>
          {ends.length === 0
            ? t`This ends all their sessions and revokes their access tokens and apps, including workspace tokens they issued. Recordings stay.`
            : t`This ends all their sessions and revokes their access tokens and apps, including workspace tokens they issued: ${{ list: namesInSentence(ends) }}. Recordings stay.`}
        </span>
        {access === undefined ? null : (
          <DisabledHooks
            all={access.personal_hooks + access.workspace_hooks}
            shared={access.workspace_hooks}
          />
        )}
        {access === undefined || access.unfinished_uploads === 0 ? null : (
          <span>
            <Plural
              value={access.unfinished_uploads}
              one="# unfinished upload will fail."
              other="# unfinished uploads will fail."
            />
          </span>
        )}
        <span>
          <Trans>You can reactivate the account later. Revoked access is not restored.</Trans>
        </span>
      </Stack>
    </Confirm>
  );
}

/** The user's webhooks, some of which may be the workspace's. */
function DisabledHooks({ all, shared }: { all: number; shared: number }) {
  if (all === 0) return null;
  return (
    <span>
      <Plural value={all} one="# webhook will be disabled." other="# webhooks will be disabled." />{" "}
      {shared === 0 ? null : (
        <Plural
          value={shared}
          one="# of them is the workspace's: any admin can enable it again under Settings > Webhooks, and it then belongs to that admin."
          other="# of them are the workspace's: any admin can enable them again under Settings > Webhooks, and they then belong to that admin."
        />
      )}
    </span>
  );
}
