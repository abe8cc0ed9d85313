import { Anchor, Button, Group, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { hooksQuery } from "../../api/hooks.ts";
import { usersQuery } from "../../api/recordings.ts";
import { whenInLine } from "../../common/time.ts";
import { Loaded, NoneYet, Row, Rows, SettingsPage, Tag } from "../parts.tsx";
import { typeInWords } from "./hook-types.ts";
import { NewHook } from "./new-hook.tsx";
import { HookStatus } from "./status.tsx";

const parent = getRouteApi("/signed-in");

/** The person's hooks, for admins also those of the workspace, and how they fare. */
export function HooksPage() {
  const { session } = parent.useRouteContext();
  const [of, setOf] = useState<"me" | "workspace">("me");
  const hooks = useQuery(hooksQuery(of));
  const users = useQuery(usersQuery).data?.users ?? [];
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Hooks"
      lead={
        of === "me"
          ? "Your own server is told when something happens with what you may see."
          : "A server is told of everything that happens in the workspace. These are made by the API, with a workspace token; admins look after them."
      }
      action={
        session.user.role === "viewer" || of === "workspace" ? undefined : (
          <Button leftSection={<IconPlus size={18} />} onClick={open}>
            New hook
          </Button>
        )
      }
    >
      {session.user.role === "admin" ? (
        <Group>
          <SegmentedControl
            size="xs"
            aria-label="Whose hooks"
            value={of}
            onChange={(value) => setOf(value === "workspace" ? "workspace" : "me")}
            data={[
              { value: "me", label: "Mine" },
              { value: "workspace", label: "The workspace's" },
            ]}
          />
        </Group>
      ) : null}
      <Loaded query={hooks}>
        {({ hooks }) =>
          hooks.length === 0 ? (
            <NoneYet>
              {of === "me"
                ? "No hooks yet."
                : "No hooks of the workspace. They are made by Create Hook of the API, with a workspace token."}
            </NoneYet>
          ) : (
            <Rows label="Hooks">
              {hooks.map((hook) => (
                <Row
                  key={hook.id}
                  title={
                    <Anchor component={Link} to={`/settings/hooks/${hook.id}` as string} fw={600} c="inherit">
                      {typeInWords(hook.hook_type)}
                    </Anchor>
                  }
                  badges={
                    <>
                      <HookStatus hook={hook} />
                      {hook.pending > 0 ? <Tag tone="accent">{hook.pending} waiting</Tag> : null}
                    </>
                  }
                  facts={[
                    hook.hook_url,
                    of === "workspace"
                      ? `made with a token of ${users.find(({ id }) => id === hook.user_id)?.name ?? "somebody who left"}`
                      : null,
                    hook.last_attempt === null
                      ? "nothing sent yet"
                      : `last sent ${whenInLine(hook.last_attempt.datetime)}${
                          hook.last_attempt.error === null ? "" : `: ${hook.last_attempt.error}`
                        }`,
                  ]}
                />
              ))}
            </Rows>
          )
        }
      </Loaded>
      <NewHook opened={opened} onClose={close} />
    </SettingsPage>
  );
}
