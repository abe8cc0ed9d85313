import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Text, ThemeIcon, Title } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/client/api-error.ts";
import classes from "./public-link.module.css";

/** A page with a single message. */
export function Notice(props: { title: string; icon: ReactNode; color?: string; children?: ReactNode }) {
  const { title, icon, color = "indigo", children } = props;
  return (
    <main className={classes.notice}>
      <div className={classes.noticeWords} role="status">
        <ThemeIcon size={56} radius="xl" variant="light" color={color} aria-hidden>
          {icon}
        </ThemeIcon>
        <Title order={1} size="h2">
          {title}
        </Title>
        {children === undefined ? null : (
          <Text component="div" c="dimmed">
            {children}
          </Text>
        )}
      </div>
      <Brand />
    </main>
  );
}

/** The server is unreachable or failed. */
export function Trouble({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useLingui();
  return (
    <Notice title={t`Couldn't load`} icon={<IconAlertTriangle size={30} stroke={1.5} />} color="red">
      <Text mb="sm">{error instanceof ApiError ? error.message : t`Something went wrong.`}</Text>
      <Button variant="light" leftSection={<IconRefresh size={18} aria-hidden />} onClick={retry}>
        <Trans>Try again</Trans>
      </Button>
    </Notice>
  );
}

/** The product's name and logo. */
export function Brand() {
  return (
    <span className={classes.mark}>
      <img src="/icon.svg" width={24} height={24} alt="" />
      Parley
    </span>
  );
}
