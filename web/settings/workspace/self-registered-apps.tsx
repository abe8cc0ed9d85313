import { useLingui } from "@lingui/react/macro";
import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { updateWorkspace, workspaceQuery } from "../../api/settings/workspace.ts";
import { useAction } from "../../common/actions.tsx";
import { Loaded, Panel, Section } from "../parts.tsx";

/** Whether members may authorize apps that no admin registered. */
export function SelfRegisteredApps() {
  const { t } = useLingui();
  const workspace = useQuery(workspaceQuery);
  const isOn = workspace.data?.self_registered_apps ?? false;
  const toggle = useAction({
    run: () => updateWorkspace({ self_registered_apps: !isOn }),
    done: isOn ? t`Self-registered apps turned off.` : t`Self-registered apps turned on.`,
    refresh: [workspaceQuery.queryKey],
  });
  return (
    <Section title={t`Self-registered apps`} lead={t`Assistants that connect with the server's URL alone.`}>
      <Loaded query={workspace}>
        {() => (
          <Panel>
            <Switch
              label={t`Members can authorize apps that registered themselves`}
              description={t`Each member is asked for consent. Turning it off revokes the access of all self-registered apps.`}
              checked={isOn}
              disabled={toggle.isPending}
              onChange={() => toggle.mutate()}
            />
          </Panel>
        )}
      </Loaded>
    </Section>
  );
}
