import { Alert, Stack } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type Hook, hookQuery } from "../../api/hooks.ts";
import { BackLink } from "../../common/back-link.tsx";
import { whenInLine } from "../../common/time.ts";
import { Loaded, SettingsPage } from "../parts.tsx";
import classes from "../settings.module.css";
import { HookActions } from "./actions.tsx";
import { Deliveries } from "./deliveries.tsx";
import { includesOf, typeInWords } from "./hook-types.ts";
import { HookStatus } from "./status.tsx";

const page = getRouteApi("/signed-in/settings/hooks/$hookId");
const parent = getRouteApi("/signed-in");

/** One hook: how it fares, what can be done with it, and what was sent to it. */
export function HookPage() {
  const { hookId } = page.useParams();
  const { session } = parent.useRouteContext();
  const hook = useQuery(hookQuery(hookId));
  const mayChange = session.user.role !== "viewer";
  return (
    <Stack gap="sm">
      <BackLink to="/settings/hooks">Hooks</BackLink>
      <Loaded query={hook}>
        {(hook) => (
          <SettingsPage
            title={typeInWords(hook.hook_type)}
            lead={<span className={classes.address}>{hook.hook_url}</span>}
          >
            <State hook={hook} />
            {mayChange ? <HookActions hook={hook} /> : null}
            <Deliveries hook={hook} mayChange={mayChange} />
          </SettingsPage>
        )}
      </Loaded>
    </Stack>
  );
}

function State({ hook }: { hook: Hook }) {
  const names = includesOf(hook.hook_type);
  const includes = Object.entries(hook.include)
    .filter(([, value]) => value !== false)
    .map(([name]) => names[name] ?? name);
  return (
    <Stack gap="sm">
      <div className={classes.facts}>
        <HookStatus hook={hook} />
        {hook.scope === "workspace" ? <span>of the whole workspace</span> : null}
        <span>made {whenInLine(hook.inserted_at)}</span>
        <span>version {hook.version}</span>
        {includes.length === 0 ? null : <span>with {includes.join(", ")}</span>}
        {hook.previous_secret_until === null ? null : (
          <span>signed with the old secret as well until {whenInLine(hook.previous_secret_until)}</span>
        )}
      </div>
      {hook.enabled && hook.failing_since === null ? null : (
        <Alert
          variant="light"
          color={hook.enabled ? "yellow" : "red"}
          c="bright"
          icon={<IconAlertTriangle size={18} aria-hidden />}
          title={hook.enabled ? "Every attempt fails" : "The hook is off"}
        >
          {hook.enabled
            ? `Since ${whenInLine(hook.failing_since ?? "")}. ${hook.last_attempt?.error ?? ""} After five days of nothing but failure it is switched off.`
            : `${hook.disabled_reason ?? ""} Nothing is sent; replay brings what happened meanwhile once it is on again.`}
        </Alert>
      )}
    </Stack>
  );
}
