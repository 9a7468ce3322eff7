import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

@Module({})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter());
await app.close();
