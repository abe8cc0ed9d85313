import { useLingui } from "@lingui/react/macro";
import { Button, Menu, NavLink, Text } from "@mantine/core";
import { IconChevronDown, IconLock } from "@tabler/icons-react";
import { getRouteApi, Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Fragment } from "react";
import { EmptyState } from "../common/states.tsx";
import { navGroupsFor, navItemAt } from "./nav-items.ts";
import classes from "./settings.module.css";

const parent = getRouteApi("/signed-in");

/** The frame of the settings pages: navigation, a menu on phones. */
export function SettingsLayout() {
  const { t } = useLingui();
  const { session } = parent.useRouteContext();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const here = navItemAt(path);
  const groups = navGroupsFor(session);
  const isRefused = here !== undefined && !here.isFor(session);
  const title = here === undefined ? t`Settings` : t(here.label);
  return (
    <div className={classes.layout}>
      <nav aria-label={t`Settings`} className={classes.side}>
        {groups.map(({ label, items }) => (
          <Fragment key={label.id}>
            <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" pb={4}>
              {t(label)}
            </Text>
            {items.map((item) => (
              <NavLink
                key={item.path}
                component={Link}
                to={item.path}
                label={t(item.label)}
                activeOptions={{ exact: item.path === "/settings" }}
                active={item === here || item.path === here?.path}
                aria-current={item.path === here?.path ? "page" : undefined}
                className={classes.item ?? ""}
              />
            ))}
          </Fragment>
        ))}
      </nav>
      <Menu position="bottom-start" width={260}>
        <Menu.Target>
          <Button
            className={classes.fold ?? ""}
            variant="default"
            fullWidth
            justify="space-between"
            rightSection={<IconChevronDown size={16} aria-hidden />}
            aria-label={t`${title}, other settings`}
          >
            {title}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {groups.map(({ label, items }) => (
            <Fragment key={label.id}>
              <Menu.Label>{t(label)}</Menu.Label>
              {items.map((item) => (
                <Menu.Item key={item.path} component={Link} to={item.path}>
                  {t(item.label)}
                </Menu.Item>
              ))}
            </Fragment>
          ))}
        </Menu.Dropdown>
      </Menu>
      <div className={classes.page}>
        {isRefused ? (
          <EmptyState title={t`Admins only`} icon={<IconLock size={30} stroke={1.5} />}>
            {here.refusal === null ? null : t(here.refusal)}
          </EmptyState>
        ) : (
          <Outlet />
        )}
      </div>
    </div>
  );
}
