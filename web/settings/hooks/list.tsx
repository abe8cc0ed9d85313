import { Anchor, Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { hooksQuery } from "../../api/hooks.ts";
import { whenInLine } from "../../common/time.ts";
import { Loaded, NoneYet, Row, Rows, SettingsPage, Tag } from "../parts.tsx";
import { typeInWords } from "./hook-types.ts";
import { NewHook } from "./new-hook.tsx";
import { HookStatus } from "./status.tsx";

const parent = getRouteApi("/signed-in");

/** The person's hooks, and how they fare. */
export function HooksPage() {
  const { session } = parent.useRouteContext();
  const hooks = useQuery(hooksQuery);
  const [opened, { open, close }] = useDisclosure();
  return (
    <SettingsPage
      title="Hooks"
      lead="Your own server is told when something happens with what you may see. Hooks of the whole workspace are made by the API, with a workspace token."
      action={
        session.user.role === "viewer" ? undefined : (
          <Button leftSection={<IconPlus size={18} />} onClick={open}>
            New hook
          </Button>
        )
      }
    >
      <Loaded query={hooks}>
        {({ hooks }) =>
          hooks.length === 0 ? (
            <NoneYet>No hooks yet.</NoneYet>
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
