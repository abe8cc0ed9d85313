import { Button, Menu, NavLink, Text } from "@mantine/core";
import { IconChevronDown, IconLock } from "@tabler/icons-react";
import { getRouteApi, Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Fragment } from "react";
import { EmptyState } from "../common/states.tsx";
import { placeAt, placesFor } from "./places.ts";
import classes from "./settings.module.css";

const parent = getRouteApi("/signed-in");

/** Around each page of the settings: the way to the others, which a phone folds into a menu. */
export function SettingsLayout() {
  const { session } = parent.useRouteContext();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const here = placeAt(path);
  const groups = placesFor(session);
  const isRefused = here?.isForAdmins === true && session.user.role !== "admin";
  return (
    <div className={classes.layout}>
      <nav aria-label="Settings" className={classes.side}>
        {groups.map(({ label, places }) => (
          <Fragment key={label}>
            <Text size="xs" fw={600} c="dimmed" px="sm" pt="sm" pb={4}>
              {label}
            </Text>
            {places.map((place) => (
              <NavLink
                key={place.path}
                component={Link}
                to={place.path}
                label={place.label}
                activeOptions={{ exact: place.path === "/settings" }}
                active={place === here || place.path === here?.path}
                aria-current={place.path === here?.path ? "page" : undefined}
                className={classes.place ?? ""}
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
            aria-label={`${here?.label ?? "Settings"}, other settings`}
          >
            {here?.label ?? "Settings"}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {groups.map(({ label, places }) => (
            <Fragment key={label}>
              <Menu.Label>{label}</Menu.Label>
              {places.map((place) => (
                <Menu.Item key={place.path} component={Link} to={place.path}>
                  {place.label}
                </Menu.Item>
              ))}
            </Fragment>
          ))}
        </Menu.Dropdown>
      </Menu>
      <div className={classes.page}>
        {isRefused ? (
          <EmptyState title="For admins" icon={<IconLock size={30} stroke={1.5} />}>
            Only admins of the workspace decide about this. Ask one of them.
          </EmptyState>
        ) : (
          <Outlet />
        )}
      </div>
    </div>
  );
}
