import { Plural, useLingui } from "@lingui/react/macro";
import { Button, CloseButton, Group } from "@mantine/core";
import { IconChecklist } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { dismissChecklist, systemQuery } from "../api/settings/system.ts";
import { useAction } from "../common/actions.tsx";

const fresh = { staleTime: 600_000, refetchInterval: false } as const;

/** How much of the checklist is left, once the library has recordings in its place; until an admin dismisses it for all. */
export function SetupReminder() {
  const { t } = useLingui();
  const { data } = useQuery({ ...systemQuery, ...fresh });
  const dismiss = useAction({
    run: dismissChecklist,
    done: t`Checklist dismissed for all admins`,
    refresh: [systemQuery.queryKey],
  });
  const left = data?.checklist?.filter(({ done }) => !done).length ?? 0;
  if (left === 0) return null;
  return (
    <Group gap={2} wrap="nowrap" visibleFrom="md">
      <Button
        component={Link}
        to="/settings/system"
        size="compact-sm"
        variant="light"
        leftSection={<IconChecklist size={16} aria-hidden />}
      >
        <Plural value={left} one="Set up Parley: # step left" other="Set up Parley: # steps left" />
      </Button>
      <CloseButton
        size="sm"
        aria-label={t`Dismiss checklist`}
        title={t`Dismiss checklist`}
        disabled={dismiss.isPending}
        onClick={() => dismiss.mutate()}
      />
    </Group>
  );
}
