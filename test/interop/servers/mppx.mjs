import express from 'express';
import { Hono } from 'hono';
import { serve } from '@hono/node-server';
import { evm, Mppx } from 'mppx/server';
import { payment } from 'mppx/express';

console.log(Object.keys(evm), typeof payment);
